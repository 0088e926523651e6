// How to start the server, in the order of DESIGN's promise that nothing has to be set up:
//
// 1. the setting `everproof.server.command`;
// 2. what this package carries for the platform, with a Python on PATH or that of `everproof.server.python`;
// 3. a Python that can import everproof;
// 4. the environment of its own that the extension made earlier, with the user's consent.

import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { candidates, closedEnvironment, probe, type Carried, type Python } from './python';

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
  /** The Python of the extension's own environment, whether it exists or not. */
  readonly ownPython: string;
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

/** Looks for the server. Runs no more programs than needed to find it. */
export async function find(search: Search, ask: Ask = probe, exists: (file: string) => boolean = existsSync): Promise<Found> {
  const [program, ...args] = search.command;
  if (program !== undefined) {
    return { server: { command: program, args, environment: {}, found: 'the setting everproof.server.command' }, python: undefined };
  }
  const carried = { pythons: carriedPythons(search.manifest), libs: path.join(search.bundled, 'libs') };
  let usable: Python | undefined;
  let importing: Python | undefined;
  for (const candidate of search.python !== '' ? [search.python] : candidates(search.searchPath, search.folders, exists)) {
    const python = await ask(candidate, carried);
    if (python === undefined) {
      continue;
    }
    // what the user named is run as it was named
    const command = search.python === '' ? python.executable : python.command;
    if (carries(search.manifest, python)) {
      return { server: { ...bundledServer(command, carried.libs), running: python.running }, python };
    }
    usable ??= python;
    importing ??= python.everproof === null ? undefined : { ...python, command };
  }
  if (importing !== undefined) {
    return { server: installedServer(importing.command, `Everproof ${importing.everproof ?? ''}, installed in ${importing.command}`), python: importing };
  }
  if (exists(search.ownPython)) {
    return { server: installedServer(search.ownPython, `the extension's own environment, ${search.ownPython}`), python: usable };
  }
  return { server: undefined, python: usable };
}

/** The versions of Python that the package carries the dependencies for, on this platform. */
function carriedPythons(manifest: Manifest | undefined): readonly string[] {
  return manifest?.platform === `${process.platform}-${process.arch}` ? manifest.pythons : [];
}

/** Whether the package carries the dependencies for this Python on this platform. */
export function carries(manifest: Manifest | undefined, python: Python): boolean {
  return carriedPythons(manifest).includes(python.version.join('.'));
}

function bundledServer(command: string, libs: string): ServerCommand {
  return { command, args: SERVER, environment: closedEnvironment(libs), found: 'what the extension carries' };
}

function installedServer(command: string, found: string): ServerCommand {
  return { command, args: SERVER, environment: { PYTHONSAFEPATH: '1' }, found };
}
