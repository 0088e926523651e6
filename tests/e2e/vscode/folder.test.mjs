// A folder is opened and none of its files: what is found in them is reported all the same.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { command } from './person.mjs';
import { start } from './workbench.mjs';

let folder;
let vscode;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'everproof-e2e-folder-'));
  writeFileSync(join(folder, 'main.c'), '#include <stdlib.h>\n\nint main(void)\n{\n\tint *p = malloc(4);\n\n\tfree(p);\n\treturn *p;\n}\n');
  vscode = await start({ name: 'folder', folder });
});

after(async () => {
  await vscode?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a finding in a file that is not open is among the problems', async () => {
  const { page } = vscode;
  const problem = page.locator('.markers-panel .monaco-list-row', { hasText: 'use-after-free' }).first();
  await page.locator('.statusbar-item[id="status.problems"]:not([aria-label="No Problems"])').waitFor();
  await command(page, 'Problems: Focus on Problems View', problem);
  await vscode.picture('problems');
});
