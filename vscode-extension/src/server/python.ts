// Which Python there is. Only programs in absolute folders of PATH are asked, and none inside an opened folder: opening a folder
// must not run what is in it.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
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
}

const NAMES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python'];
// Most of the time of a Python's start goes into the packages that are installed for it: they are looked at only when it matters.
const PROBE = `
import json, sys
found = None
if "%d.%d" % sys.version_info[:2] not in sys.argv[1:]:
    import site
    site.main()
    import importlib.metadata
    try:
        found = importlib.metadata.version("everproof")
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps([sys.version_info[0], sys.version_info[1], found, sys.executable]))
`;
const PROBE_MILLISECONDS = 10_000;

/** Where a Python may be, in the order in which they are asked. */
export function candidates(searchPath: string, folders: readonly string[], exists: (file: string) => boolean = existsSync, windows = process.platform === 'win32'): string[] {
  const paths = windows ? path.win32 : path.posix;
  const places = searchPath.split(paths.delimiter).filter((place) => paths.isAbsolute(place) && !folders.some((folder) => isInside(place, folder, paths)));
  const files = NAMES.flatMap((name) => places.map((place) => paths.join(place, windows ? `${name}.exe` : name)));
  return [...new Set(files)].filter((file) => exists(file));
}

function isInside(place: string, folder: string, paths: path.PlatformPath): boolean {
  const relative = paths.relative(folder, place);
  return relative === '' || (!relative.startsWith('..') && !paths.isAbsolute(relative));
}

/**
 * Asks a program what Python it is; undefined if it is none that will do. A Python of the `carried` versions is not asked for Everproof.
 * `-I`: nothing of the user's is imported by this.
 */
export async function probe(command: string, carried: readonly string[], environment: NodeJS.ProcessEnv = process.env): Promise<Python | undefined> {
  const output = await new Promise<string>((resolve) => {
    execFile(command, ['-I', '-S', '-c', PROBE, ...carried], { timeout: PROBE_MILLISECONDS, env: environment, cwd: path.parse(process.execPath).root }, (error, stdout) => {
      resolve(error === null ? stdout : '');
    });
  });
  return parseProbe(command, output);
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
  const [major, minor, everproof, executable] = answer as unknown[];
  if (typeof major !== 'number' || typeof minor !== 'number' || typeof executable !== 'string' || (everproof !== null && typeof everproof !== 'string')) {
    return undefined;
  }
  const recent = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  return recent ? { command, executable: executable === '' ? command : executable, version: [major, minor], everproof } : undefined;
}
