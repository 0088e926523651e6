// How to start the server, so that nothing has to be set up. In this order:
//
// 1. the setting `everproof.server.command`;
// 2. what this package carries for the platform, with a Python on PATH or that of `everproof.server.python`;
// 3. a Python that can import everproof;
// 4. the environment of its own that the extension made earlier, with the user's consent.

import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { candidates, closedEnvironment, probe, programsFirst, type Carried, type Python } from './python';

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
  /** For the log. */
  readonly found: string;
  /** Its process, if it runs already. */
  readonly running?: Python['running'];
}

/** What scripts/bundle.py writes. */
export interface Manifest {
  readonly version: string;
  readonly wheel: string;
  readonly sha256: string;
  readonly platform: string | null;
  readonly pythons: readonly string[];
}

export interface Search {
  readonly command: readonly string[];
  readonly python: string;
  readonly searchPath: string;
  readonly folders: readonly string[];
  /** The folder `bundled` of the extension. */
  readonly bundled: string;
  readonly manifest: Manifest | undefined;
}

export interface Found {
  readonly server: ServerCommand | undefined;
  /** A Python with which an environment can be made. */
  readonly python: Python | undefined;
}

const SERVER = ['-m', 'server', '--stdio'];

export function readManifest(bundled: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(path.join(bundled, 'manifest.json'), 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}

/** Asks a program what Python it is; `probe`. */
export type Ask = (command: string, carried: Carried) => Promise<Python | undefined>;

/** Looks for the server, all but the extension's own environment (`ownServer`). Runs no more programs than needed to find it. */
export async function find(
  search: Search,
  ask: Ask = probe,
  exists: (file: string) => boolean = existsSync,
): Promise<Found> {
  const [program, ...args] = search.command;
  if (program !== undefined) {
    return {
      server: { command: program, args, environment: {}, found: 'the setting everproof.server.command' },
      python: undefined,
    };
  }
  const carried = { pythons: carriedPythons(search.manifest), libs: path.join(search.bundled, 'libs') };
  const named = search.python !== '' ? [search.python] : candidates(search.searchPath, search.folders, exists);
  const pythons = new Map<string, Python>();
  // what is carried runs with any that fits: it is the same server
  for (const candidate of carried.pythons.length > 0 ? programsFirst(named) : named) {
    const asked = await ask(candidate, carried);
    if (asked === undefined) {
      continue;
    }
    // what the user named is run as it was named
    const python = { ...asked, command: search.python === '' ? asked.executable : asked.command };
    if (python.fits) {
      return { server: { ...bundledServer(python.command, carried.libs), running: python.running }, python };
    }
    pythons.set(candidate, python);
  }
  const usable = named.flatMap((candidate) => pythons.get(candidate) ?? []);
  const importing = usable.find(({ everproof }) => everproof !== null);
  if (importing !== undefined) {
    return {
      server: installedServer(
        importing.command,
        `Everproof ${importing.everproof ?? ''}, installed in ${importing.command}`,
      ),
      python: importing,
    };
  }
  return { server: undefined, python: usable[0] };
}

/** The server in the extension's own environment, if that was made. */
export function ownServer(python: string, exists: (file: string) => boolean = existsSync): ServerCommand | undefined {
  return exists(python) ? installedServer(python, `the extension's own environment, ${python}`) : undefined;
}

/** The versions of Python that the package carries the dependencies for, on this platform. */
export function carriedPythons(manifest: Manifest | undefined): readonly string[] {
  return manifest?.platform === `${process.platform}-${process.arch}` ? manifest.pythons : [];
}

function bundledServer(command: string, libs: string): ServerCommand {
  return { command, args: SERVER, environment: closedEnvironment(libs), found: 'what the extension carries' };
}

function installedServer(command: string, found: string): ServerCommand {
  return { command, args: SERVER, environment: { PYTHONSAFEPATH: '1' }, found };
}
