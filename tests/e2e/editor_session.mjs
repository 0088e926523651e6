// A session in an editor of the terminal: started with a script that does what a person does and writes what came of each step.
//
// The script runs in a copy of fixtures/demo, or of another folder, with a home of its own and `everproof` on PATH, which records what
// editor and server say.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
export const PROJECT = join(HERE, '..', '..');
export const CACHE = join(HERE, '.cache');
const PYTHON = join(PROJECT, '.venv', 'bin', 'python');
const PATIENCE_MS = 900_000;
const SAID = ['client textDocument/didChange', 'server textDocument/publishDiagnostics', 'client workspace/executeCommand', 'client shutdown'];

/** Puts the sources of spin into a folder, as a program that is built there. Null if `make programs` has not fetched them. */
export function copySpin(folder) {
  const commands = join(PROJECT, 'benchmarks', '.cache', 'spin', 'compile_commands.json');
  if (!existsSync(commands)) {
    return null;
  }
  const entries = JSON.parse(readFileSync(commands, 'utf8'));
  cpSync(entries[0].directory, folder, { recursive: true });
  writeFileSync(join(folder, 'compile_commands.json'), JSON.stringify(entries.map((entry) => ({ ...entry, directory: folder }))));
  return folder;
}

/** Judges what was shown of a file while somebody typed into it; what was seen. */
export function judgeTyping(log, file) {
  const { status, stdout, stderr } = spawnSync(PYTHON, [join(HERE, 'typing_log.py'), log, file], { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout.trim();
}

const copyDemo = (folder) => cpSync(join(PROJECT, 'fixtures', 'demo'), folder, { recursive: true });

/**
 * Runs `command` and makes a test of each step that it tells of. `configuration`: the file of docs/editors that the session loads;
 * `fill` puts the program into its folder; `said`: messages that must have been sent. What the session leaves (its output, what was
 * said, its results) is kept in artifacts/NAME. Returns the log of what was said.
 */
export async function runSession({ name, command, args, configuration, fill = copyDemo, said = SAID }) {
  const out = join(HERE, 'artifacts', name);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), 'everproof-e2e-'));
  const folder = join(home, 'program');
  fill(folder);
  writeFileSync(join(folder, '.everproof.toml'), '');
  const programs = join(home, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'everproof'), `#!/bin/sh\nshift\nexec "${PYTHON}" "${join(HERE, 'recording_python.py')}" -m server "$@"\n`);
  chmodSync(join(programs, 'everproof'), 0o755);
  const results = join(out, 'results.json');
  const log = join(out, 'session.jsonl');
  const env = {
    ...process.env, HOME: home, XDG_CACHE_HOME: join(home, 'cache'), XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'share'),
    XDG_STATE_HOME: join(home, 'state'), PATH: `${programs}${delimiter}${process.env.PATH}`, EVERPROOF_SESSION_LOG: log, EVERPROOF_RESULTS: results,
    EVERPROOF_CONFIGURATION: join(PROJECT, 'docs', 'editors', configuration),
  };
  delete env.EVERPROOF_STORE;
  const ended = await finished(spawn(command, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] }), join(out, 'output.log'));
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });

  const told = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : { steps: 0, results: [] };
  test(`${name}: the session came to its end`, (context) => {
    context.diagnostic(told.version ?? 'no version');
    assert.equal(ended.code, 0, ended.output);
    assert.ok(told.steps > 0);
    assert.equal(told.results.length, told.steps);
  });
  for (const step of told.results) {
    test(`${name}: ${step.name}`, () => assert.ok(!step.error, step.error));
  }
  test(`${name}: what editor and server said to each other keeps to the protocol`, () => {
    const { status, stdout, stderr } = spawnSync(PYTHON, [join(HERE, 'session_log.py'), log], { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
    for (const message of said) {
      assert.ok(stdout.includes(message), `${message} is not among: ${stdout}`);
    }
  });
  return log;
}

/** Waits for the end of a process, which is its group's leader; nothing of the group is left. */
async function finished(child, log) {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  const timer = setTimeout(() => killGroup(child.pid), PATIENCE_MS);
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      output += error;
      resolve(-1);
    });
    child.once('exit', resolve);
  });
  clearTimeout(timer);
  killGroup(child.pid);
  writeFileSync(log, output);
  return { code, output };
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it is gone
  }
}
