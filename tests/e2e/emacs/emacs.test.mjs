// Emacs with eglot.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSession } from '../editor_session.mjs';

const SCRIPT = join(dirname(fileURLToPath(import.meta.url)), 'session.el');

await runSession({ name: 'emacs', command: 'emacs', args: ['--batch', '-l', SCRIPT], configuration: 'everproof.el' });
