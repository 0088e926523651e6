import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { carriedPythons, find, ownServer, type Manifest, type Search } from '../src/server/discovery';
import { environmentPython, ownRequirement } from '../src/server/environment';
import { ServerProcess } from '../src/server/process';
import { candidates, parseProbe, probe, programsFirst, type Carried, type Python } from '../src/server/python';

const platform = `${process.platform}-${process.arch}`;
const manifest: Manifest = {
  version: '1',
  wheel: 'everproof-1-py3-none-any.whl',
  sha256: 'ab',
  platform,
  pythons: ['3.11', '3.12'],
};
const PYTHON = resolve('../.venv/bin/python'); // the project's own, in which it is installed
const NOTHING: Carried = { pythons: [], libs: '/x/bundled/libs' };
const search = (more: Partial<Search> = {}): Search => ({
  command: [],
  python: '',
  searchPath: '/a:/b',
  folders: [],
  bundled: '/x/bundled',
  manifest,
  ...more,
});
const python = (command: string, minor: number, everproof: string | null = null): Python => ({
  command,
  executable: command,
  version: [3, minor],
  everproof,
  fits: manifest.pythons.includes(`3.${minor}`),
});

/** A machine with these Pythons, that notes which of them were run. */
function machine(pythons: Record<string, Python | undefined>, files: readonly string[] = []) {
  const asked: string[] = [];
  const ask = (command: string) => {
    asked.push(command);
    return Promise.resolve(pythons[command]);
  };
  return { asked, ask, exists: (file: string) => file in pythons || files.includes(file) };
}

describe('finding the server', () => {
  it('takes the setting, and runs nothing to find out', async () => {
    const { asked, ask, exists } = machine({ '/a/python3': python('/a/python3', 12) });
    const { server } = await find(search({ command: ['everproof', 'serve'] }), ask, exists);
    assert.deepEqual([server?.command, server?.args, asked], ['everproof', ['serve'], []]);
  });

  it('takes what the package carries, with the first Python that fits', async () => {
    const { ask, exists } = machine({
      '/a/python3': python('/a/python3', 15),
      '/b/python3.12': python('/b/python3.12', 12),
    });
    const { server } = await find(search(), ask, exists);
    assert.equal(server?.command, '/b/python3.12');
    assert.equal(server.environment['PYTHONPATH'], '/x/bundled/libs');
    assert.equal(server.environment['PYTHONSAFEPATH'], '1');
  });

  it('starts the Python that a script on PATH chooses, but what is set as it is set', async () => {
    const shim = { ...python('/a/python3', 12), executable: '/real/python3.12' };
    const { ask, exists } = machine({ '/a/python3': shim });
    assert.equal((await find(search(), ask, exists)).server?.command, '/real/python3.12');
    assert.equal((await find(search({ python: '/a/python3' }), ask, exists)).server?.command, '/a/python3');
  });

  it('takes a Python that has everproof when nothing is carried for it', async () => {
    const { ask, exists } = machine({
      '/a/python3': python('/a/python3', 15),
      '/b/python3': python('/b/python3', 15, '0.1.0'),
    });
    const { server } = await find(search({ manifest: undefined }), ask, exists);
    assert.deepEqual([server?.command, server?.environment['PYTHONPATH']], ['/b/python3', undefined]);
  });

  it('takes the environment of its own, when it was made', async () => {
    const { ask, exists } = machine({ '/a/python3': python('/a/python3', 15) }, ['/own/bin/python']);
    assert.equal((await find(search(), ask, exists)).server, undefined);
    assert.equal(ownServer('/own/bin/python', exists)?.command, '/own/bin/python');
    assert.equal(ownServer('/other/bin/python', exists), undefined);
  });

  it('names a Python to make one with, when there is none', async () => {
    const { ask, exists } = machine({ '/a/python3': undefined, '/b/python3': python('/b/python3', 15) });
    assert.deepEqual(await find(search(), ask, exists), { server: undefined, python: python('/b/python3', 15) });
  });

  it('asks only the Python that is set', async () => {
    const { asked, ask, exists } = machine({ '/a/python3': python('/a/python3', 12), '/mine': undefined });
    assert.deepEqual(await find(search({ python: '/mine' }), ask, exists), { server: undefined, python: undefined });
    assert.deepEqual(asked, ['/mine']);
  });

  it('uses what is carried on its platform and its Pythons only', () => {
    assert.deepEqual(carriedPythons(manifest), manifest.pythons);
    assert.deepEqual(carriedPythons({ ...manifest, platform: 'plan9-mips' }), []);
    assert.deepEqual(carriedPythons(undefined), []);
  });
});

describe('which programs are asked', () => {
  const all = () => true;
  it('only those in absolute folders that are not opened', () => {
    const found = candidates(
      '/usr/bin:.:bin::/home/me/project/.venv/bin:/home/me/project',
      ['/home/me/project'],
      all,
      false,
    );
    assert.deepEqual([...new Set(found.map((file) => file.slice(0, file.lastIndexOf('/'))))], ['/usr/bin']);
    assert.equal(
      candidates('/home/me/projects/bin', ['/home/me/project'], all, false)[0],
      '/home/me/projects/bin/python3',
    );
  });

  it('each once, python3 first', () => {
    assert.deepEqual(
      candidates('/a:/b:/a', [], (file) => !/\d\.\d/.test(file), false),
      ['/a/python3', '/b/python3', '/a/python', '/b/python'],
    );
    assert.equal(candidates('C:\\Python;D:\\x', [], all, true)[0], 'C:\\Python\\python3.exe');
  });

  it('programs before scripts, where something is carried that any of them runs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everproof-path-'));
    try {
      const [shim, program, other] = ['shims/python3', 'bin/python3', 'bin/python'].map((file) =>
        join(folder, file),
      ) as [string, string, string];
      for (const file of [shim, program, other]) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, file === shim ? '#!/bin/sh\n' : '\x7fELF');
      }
      assert.deepEqual(programsFirst([shim, '/no/such/file', program], 'linux'), ['/no/such/file', program, shim]);
      assert.deepEqual(programsFirst([shim, program], 'darwin'), [shim, program]);
      const searchPath = `${dirname(shim)}:${dirname(program)}`;
      const pythons = {
        [shim]: python(shim, 15, '0.1.0'),
        [program]: python(program, 15, '0.2.0'),
        [other]: undefined,
      };
      const { asked, ask, exists } = machine(pythons);
      // none fits: the person's own order says which is taken
      assert.equal((await find(search({ searchPath }), ask, exists)).server?.command, shim);
      assert.deepEqual(asked, process.platform === 'darwin' ? [shim, program, other] : [program, other, shim]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('a Python that is too old, and what is none, will not do', () => {
    assert.equal(parseProbe('p', '[3, 10, null, "/p", false]'), undefined);
    assert.equal(parseProbe('p', 'Python 2.7'), undefined);
    assert.equal(parseProbe('p', '{"version": 3}'), undefined);
    assert.deepEqual(parseProbe('p', '[3, 11, "0.1.0", "", true]\n'), python('p', 11, '0.1.0'));
    assert.deepEqual(parseProbe('p', '[4, 0, null, "/p", false]')?.executable, '/p');
  });

  it('a program that cannot be run is none', async () => {
    assert.equal(await probe('/no/such/python', NOTHING), undefined);
    assert.equal(await probe(process.execPath, NOTHING), undefined);
  });

  it(
    'a Python is asked for Everproof only where that is not carried for it, and else goes on as what is',
    { skip: !existsSync(PYTHON) && `there is no ${PYTHON}` },
    async () => {
      const python = await probe(PYTHON, NOTHING);
      assert.match(python?.everproof ?? '', /^\d+\.\d+/);
      assert.ok(python);
      assert.equal(python.running, undefined);
      const libs = mkdtempSync(join(tmpdir(), 'everproof-libs-'));
      try {
        writeFileSync(
          join(libs, 'server.py'),
          'import os, sys\nprint(__name__, sys.argv[1:], os.environ["PYTHONPATH"], input())\n',
        );
        const { running, ...answer } = (await probe(PYTHON, { pythons: [python.version.join('.')], libs })) ?? {};
        assert.deepEqual(answer, { ...python, everproof: null, fits: true });
        assert.ok(running);
        let said = '';
        running.stdout.on('data', (data: Buffer) => {
          said += data.toString('utf8');
        });
        running.stdin.end('said to the server\n');
        await once(running, 'close');
        assert.equal(said, `__main__ ['--stdio'] ${libs} said to the server\n`);
      } finally {
        rmSync(libs, { recursive: true, force: true });
      }
    },
  );
});

describe(
  'a Python without a part of the standard library',
  { skip: !existsSync(PYTHON) && `there is no ${PYTHON}` },
  () => {
    it('does not run what is carried', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'everproof-lacking-'));
      try {
        const lacking = join(folder, 'python3');
        const code = 'import sys; sys.modules["_sqlite3"] = None; sys.argv = sys.argv[4:]; exec(sys.argv[0])';
        writeFileSync(lacking, `#!/bin/sh\nexec '${PYTHON}' -I -S -c '${code}' "$@"\n`, { mode: 0o755 });
        const whole = await probe(PYTHON, NOTHING);
        assert.ok(whole);
        const python = await probe(lacking, { pythons: [whole.version.join('.')], libs: folder });
        assert.deepEqual(python, { ...whole, command: lacking, executable: python?.executable });
        assert.equal(python.fits, false);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  },
);

describe('the process of the server', () => {
  const server = {
    command: process.execPath,
    args: ['-e', 'process.stdin.pipe(process.stdout)'],
    environment: {},
    found: '',
  };

  it('is the one that runs already, once', async () => {
    const running = spawn(server.command, server.args);
    const process = new ServerProcess({ ...server, running }, undefined);
    assert.equal(await process.start(), running);
    running.stdin.end();
    const next = await process.start();
    assert.notEqual(next, running);
    next.stdin.end('heard');
    assert.equal((await next.stdout.setEncoding('utf8').toArray()).join(''), 'heard');
  });

  it('says when it cannot be started', async () => {
    await assert.rejects(new ServerProcess({ ...server, command: '/no/such/program' }, undefined).start(), /ENOENT/);
  });

  it('ends, even if it does not listen', async () => {
    const process = new ServerProcess(server, undefined);
    const deaf = await process.start();
    process.end(0);
    const [, signal] = (await once(deaf, 'exit')) as [number | null, string | null];
    assert.equal(signal, 'SIGTERM');
  });
});

describe('the environment of its own', () => {
  it('has its Python where the platform puts it', () => {
    assert.equal(environmentPython('/e', false), '/e/bin/python');
    assert.equal(environmentPython('C:\\e', true), 'C:\\e\\Scripts\\python.exe');
  });

  it('pins the server by the hash of its wheel', () => {
    assert.equal(
      ownRequirement('/a b', manifest),
      'everproof @ file:///a%20b/everproof-1-py3-none-any.whl --hash=sha256:ab\n',
    );
  });
});
