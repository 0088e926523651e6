// The general package carries no dependencies: the extension asks, and then makes an environment of its own. It needs a package index.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { packaged, start } from './workbench.mjs';

let folder;
let vscode;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'everproof-e2e-folder-'));
  writeFileSync(join(folder, 'main.c'), '#include <stdlib.h>\n\nint main(void)\n{\n\tint *p = malloc(4);\n\n\treturn *p;\n}\n');
  vscode = await start({ name: 'setup', folder, vsix: packaged(true), payload: (remote) => [['openFile', remote(join(folder, 'main.c'))]] });
});

after(async () => {
  await vscode?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('nothing is installed before the person agrees; then the server works', async (context) => {
  const { page } = vscode;
  const question = page.locator('.notifications-toasts .notification-list-item', { hasText: 'Make a Python environment' });
  await question.waitFor();
  await vscode.picture('question');
  assert.equal(await page.locator('.squiggly-info, .squiggly-warning, .squiggly-error').count(), 0);
  const asked = performance.now();
  await question.getByRole('button', { name: 'Set Up' }).click();
  await page.locator('.squiggly-info, .squiggly-warning, .squiggly-error').first().waitFor({ timeout: 300_000 });
  context.diagnostic(`set up after ${((performance.now() - asked) / 1000).toFixed(0)} s`);
  await vscode.picture('set-up');
});
