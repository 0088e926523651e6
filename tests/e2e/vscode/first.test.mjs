// The first time: a folder with one C file, the extension just installed, nothing set up. What a person waits for is said, not judged:
// it depends on the machine (docs/benchmarks.md).

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { command } from './person.mjs';
import { start } from './workbench.mjs';

const PROGRAM = `#include <stdlib.h>

struct point {
\tint x, y;
};

int main(void)
{
\tstruct point *p = malloc(sizeof *p);

\tp->x = 1;
\tp->y = 2;
\tfree(p);
\treturn p->x;
}
`;

let folder;
let vscode;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'everproof-e2e-folder-'));
  writeFileSync(join(folder, 'first.c'), PROGRAM);
  vscode = await start({ name: 'first', folder, payload: (remote) => [['openFile', remote(join(folder, 'first.c'))]] });
});

after(async () => {
  await vscode?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a true finding is seen without any other step', async (context) => {
  const { page, opened, ready } = vscode;
  await page.locator('.view-line', { hasText: 'return' }).first().waitFor();
  const text = performance.now();
  await page.locator('.squiggly-info, .squiggly-warning, .squiggly-error').first().waitFor();
  const squiggle = performance.now();
  await vscode.picture('first');
  const lens = page.locator('.codelens-decoration', { hasText: /(possible|confirmed): .*use-after-free/ });
  await lens.first().waitFor();
  context.diagnostic(`from opening the folder to the window: ${(ready - opened).toFixed(0)} ms`);
  context.diagnostic(`from the window to the text: ${(text - ready).toFixed(0)} ms`);
  context.diagnostic(`from the window to the finding: ${(squiggle - ready).toFixed(0)} ms`);
});

test('the activation of the extension is measured by VS Code itself', async (context) => {
  const { page } = vscode;
  const row = page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'everproof' }).first();
  await command(page, 'Developer: Show Running Extensions', row);
  const match = /Activation: (\d+)ms/.exec((await row.innerText()).replace(/\s+/g, ' '));
  await vscode.picture('running-extensions');
  assert.ok(match !== null, await row.innerText());
  context.diagnostic(`activation: ${match[1]} ms`);
});
