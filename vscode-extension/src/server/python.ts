// Which Python there is. Only programs in absolute folders of PATH are asked, and none inside an opened folder: opening a folder
// must not run what is in it.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import * as path from 'node:path';

export const OLDEST = [3, 11] as const;

export interface Python {
  readonly command: string;
  /** The program itself, where `command` is a script that chooses one. */
  readonly executable: string;
  /** Major and minor. */
  readonly version: readonly [number, number];
  /** The version of Everproof that it can import, null for none, or where nobody needs to know. */
  readonly everproof: string | null;
  /** Whether it can run the server that is carried. */
  readonly fits: boolean;
  /** The server, if it fits: the process that was asked runs it. */
  readonly running?: ChildProcessWithoutNullStreams;
}

/** What the package carries for this platform: a server, with all that it needs, for some versions of Python. */
export interface Carried {
  readonly pythons: readonly string[];
  /** The folder to import it from. */
  readonly libs: string;
}

const NAMES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python'];
// Most of the time of a Python's start goes into the packages that are installed for it: they are looked at only when it matters. A
// Python that fits becomes the server at once, since to start it again takes as long as to ask, and longer where a script chooses one.
// Some Pythons are installed or built without a part of the standard library: what they lack then is looked for here.
const PROBE = `
import importlib.util, json, sys
libs, carried, found = sys.argv[1], sys.argv[2:], None
fits = "%d.%d" % sys.version_info[:2] in carried and all(map(importlib.util.find_spec, ("asyncio", "multiprocessing", "_sqlite3")))
if not fits:
    import site
    site.main()
    import importlib.metadata
    try:
        found = importlib.metadata.version("everproof")
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps([sys.version_info[0], sys.version_info[1], found, sys.executable, fits]), flush=True)
if fits:
    import runpy
    sys.path.insert(0, libs)
    sys.argv[1:] = ["--stdio"]
    runpy.run_module("server", run_name="__main__", alter_sys=True)
`;
// nothing of the folder that the server happens to be started in, nor of the user's own packages, is imported in place of its own
const CLOSED = { PYTHONSAFEPATH: '1', PYTHONNOUSERSITE: '1' };
const PROBE_MILLISECONDS = 10_000;

/** Where a Python may be, in the order in which they are asked. */
export function candidates(
  searchPath: string,
  folders: readonly string[],
  exists: (file: string) => boolean = existsSync,
  windows = process.platform === 'win32',
): string[] {
  const paths = windows ? path.win32 : path.posix;
  const places = searchPath
    .split(paths.delimiter)
    .filter((place) => paths.isAbsolute(place) && !folders.some((folder) => isInside(place, folder, paths)));
  const files = NAMES.flatMap((name) => places.map((place) => paths.join(place, windows ? `${name}.exe` : name)));
  return [...new Set(files)].filter((file) => exists(file));
}

/**
 * Programs first, then scripts: version managers put scripts on PATH that look for long which Python to start. Not on macOS, where
 * /usr/bin/python3 is a program that may ask to install developer tools.
 */
export function programsFirst(
  files: readonly string[],
  platform: NodeJS.Platform = process.platform,
): readonly string[] {
  if (platform === 'darwin') {
    return files;
  }
  const scripts = new Set(files.filter(isScript));
  return [...files.filter((file) => !scripts.has(file)), ...scripts];
}

function isScript(file: string): boolean {
  const start = Buffer.alloc(2);
  try {
    const opened = openSync(file, 'r');
    try {
      readSync(opened, start);
    } finally {
      closeSync(opened);
    }
  } catch {
    return false;
  }
  return start.toString('latin1') === '#!';
}

function isInside(place: string, folder: string, paths: path.PlatformPath): boolean {
  const relative = paths.relative(folder, place);
  return relative === '' || (!relative.startsWith('..') && !paths.isAbsolute(relative));
}

/** The environment of a server that is imported from a folder, and of the processes that it starts. */
export function closedEnvironment(libs: string): Readonly<Record<string, string>> {
  return { ...CLOSED, PYTHONPATH: libs };
}

/**
 * Asks a program what Python it is; undefined if it is none that will do. One that the carried server fits is not asked for Everproof,
 * and goes on as the server. `-I`: nothing of the user's is imported by this.
 */
export async function probe(command: string, carried: Carried): Promise<Python | undefined> {
  const child = spawn(command, ['-I', '-S', '-c', PROBE, carried.libs, ...carried.pythons], {
    env: { ...process.env, ...closedEnvironment(carried.libs) },
    cwd: path.parse(process.execPath).root,
    windowsHide: true,
  });
  const python = parseProbe(command, await firstLine(child));
  if (python?.fits === true) {
    return { ...python, running: child };
  }
  child.kill();
  return python;
}

/** The first line that a process says; what it says after that is left to be read. Empty if it says none in time. */
function firstLine(child: ChildProcessWithoutNullStreams): Promise<string> {
  return new Promise((resolve) => {
    let heard = Buffer.alloc(0);
    const timer = setTimeout(nothing, PROBE_MILLISECONDS);
    child.on('error', nothing).once('close', nothing); // what a process that has ended said was read before
    function nothing(): void {
      clearTimeout(timer);
      resolve('');
    }
    // not by the event `data`: a stream that was paused stays so when the next one listens
    child.stdout.on('readable', function read() {
      heard = Buffer.concat([heard, (child.stdout.read() as Buffer | null) ?? Buffer.alloc(0)]);
      const end = heard.indexOf('\n');
      if (end >= 0) {
        clearTimeout(timer);
        child.stdout.off('readable', read);
        child.stdout.unshift(heard.subarray(end + 1));
        resolve(heard.toString('utf8', 0, end));
      }
    });
  });
}

/** What the answer of a probe says. */
export function parseProbe(command: string, output: string): Python | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    return undefined;
  }
  if (!Array.isArray(answer)) {
    return undefined;
  }
  const [major, minor, everproof, executable, fits] = answer as unknown[];
  if (
    typeof major !== 'number' ||
    typeof minor !== 'number' ||
    typeof executable !== 'string' ||
    typeof fits !== 'boolean' ||
    (everproof !== null && typeof everproof !== 'string')
  ) {
    return undefined;
  }
  const recent = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  return recent
    ? { command, executable: executable === '' ? command : executable, version: [major, minor], everproof, fits }
    : undefined;
}
