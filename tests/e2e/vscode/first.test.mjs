// The first time: a folder with one C file, the extension just installed, nothing set up. What a person waits for is measured, and
// judged where the machine has nothing else to do. It is counted from when VS Code's own window is there: until then VS Code starts,
// which in a browser, on two cores, takes longer than all that follows.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
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

const FINDING_MS = 5000;
const ACTIVATION_MS = 500;

const quiet = loadavg()[0] < availableParallelism() / 2;
let folder;
let vscode;

/** Says a time, and holds it to its limit if nothing else was running. */
function judge(context, what, milliseconds, limit) {
  context.diagnostic(`${what}: ${milliseconds.toFixed(0)} ms${quiet ? '' : ' (not judged: the machine is busy)'}`);
  assert.ok(!quiet || milliseconds < limit, `${what} took ${milliseconds.toFixed(0)} ms, more than ${limit}`);
}

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
  await page.locator('.squiggly-warning, .squiggly-error').first().waitFor();
  const squiggle = performance.now();
  await vscode.picture('first');
  const lens = page.locator('.codelens-decoration', { hasText: /violated: .*use-after-free/ });
  await lens.first().waitFor();
  context.diagnostic(`from opening the folder to the window: ${(ready - opened).toFixed(0)} ms`);
  context.diagnostic(`from the window to the text: ${(text - ready).toFixed(0)} ms`);
  judge(context, 'from the window to the finding', squiggle - ready, FINDING_MS);
});

test('the activation of the extension is measured by VS Code itself', async (context) => {
  const { page } = vscode;
  const row = page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'everproof' }).first();
  await command(page, 'Developer: Show Running Extensions', row);
  const match = /Activation: (\d+)ms/.exec((await row.innerText()).replace(/\s+/g, ' '));
  await vscode.picture('running-extensions');
  assert.ok(match !== null, await row.innerText());
  judge(context, 'activation', Number(match[1]), ACTIVATION_MS);
});
