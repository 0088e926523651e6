// The virtual environment that the extension makes for the server where its package does not carry the dependencies. It is in the
// extension's own storage; what is installed is fixed by the hashes that the package carries.

import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Manifest } from './discovery';

/** The folder of the environment for a version; another version gets another one. */
export function environmentFolder(storage: string, version: string): string {
  return path.join(storage, `environment-${version}`);
}

/** The Python in an environment. */
export function environmentPython(folder: string, windows = process.platform === 'win32'): string {
  return windows ? path.win32.join(folder, 'Scripts', 'python.exe') : path.posix.join(folder, 'bin', 'python');
}

/** The lines that pip needs beside the carried requirements: the server itself, by the hash of its wheel. */
export function ownRequirement(bundled: string, manifest: Manifest): string {
  return `everproof @ ${pathToFileURL(path.join(bundled, manifest.wheel)).href} --hash=sha256:${manifest.sha256}\n`;
}

export interface Work {
  readonly python: string;
  readonly folder: string;
  readonly bundled: string;
  readonly manifest: Manifest;
  readonly signal: AbortSignal;
  log(line: string): void;
  progress(message: string): void;
}

/** Makes the environment. If anything fails, or it is given up, nothing is left of it, and the error says why. */
export async function makeEnvironment(work: Work): Promise<void> {
  const python = environmentPython(work.folder);
  try {
    await rm(work.folder, { recursive: true, force: true });
    work.progress('making the environment');
    await run(work, work.python, ['-I', '-m', 'venv', work.folder]);
    const own = path.join(work.folder, 'everproof.txt');
    await writeFile(own, ownRequirement(work.bundled, work.manifest));
    work.progress('installing (some 40 MB)');
    const requirements = ['--requirement', path.join(work.bundled, 'requirements.txt'), '--requirement', own];
    await run(work, python, [
      '-I',
      '-m',
      'pip',
      'install',
      '--disable-pip-version-check',
      '--no-input',
      '--no-deps',
      '--require-hashes',
      '--only-binary',
      ':all:',
      ...requirements,
    ]);
  } catch (error) {
    await rm(work.folder, { recursive: true, force: true });
    throw error;
  }
}

async function run(work: Work, command: string, args: readonly string[]): Promise<void> {
  work.log(`${command} ${args.join(' ')}`);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: path.dirname(work.folder),
      signal: work.signal,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let last = '';
    const note = (data: Buffer) => {
      for (const line of data
        .toString('utf8')
        .split(/\r?\n/)
        .filter((text) => text.trim() !== '')) {
        last = line;
        work.log(line);
      }
    };
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) {
        resolve();
      } else {
        reject(new Error(last === '' ? `${path.basename(command)} ended with exit code ${code ?? 'none'}` : last));
      }
    });
  });
}
