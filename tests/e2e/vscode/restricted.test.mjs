// Restricted Mode: a folder that is not trusted has nothing executed for it, whatever its settings say; trusted, it is compiled.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { command } from './person.mjs';
import { start } from './workbench.mjs';

const PROGRAM = `void *malloc(unsigned long size);
void free(void *block);

int compiled(int *q)
{
\treturn NUMBER(q);
}

int main(void)
{
\tint *p = malloc(4);

\tif (!p)
\t\treturn 1;
\tfree(p);
\treturn *p;
}
`;

let folder;
let tools;
let vscode;

function program(file, commands) {
  writeFileSync(file, `#!/bin/sh\n${commands}\n`);
  chmodSync(file, 0o755);
}

const mark = () => join(tools, 'the program of the folder was run');
/** A compiler cannot leave a mark in a file, for it is confined. What it makes of the text shows that it was run. */
const wasCompiled = (page) => page.locator('.codelens-decoration', { hasText: /(possible|confirmed): [^·]*null-dereference/ });

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'everproof-e2e-folder-'));
  tools = mkdtempSync(join(tmpdir(), 'everproof-e2e-tools-'));
  for (const name of ['gcc', 'clang', 'cc']) {
    program(join(tools, name), `PATH=\${PATH#*:} exec gcc '-DNUMBER(q)=(q = 0, *q)' "$@"`);
  }
  program(join(folder, 'evil'), `touch "${mark()}"\nexit 1`);
  mkdirSync(join(folder, '.vscode'));
  const settings = { 'everproof.server.command': [join(folder, 'evil')], 'everproof.server.python': join(folder, 'evil'), 'everproof.compiler': join(folder, 'evil') };
  writeFileSync(join(folder, '.vscode', 'settings.json'), JSON.stringify(settings));
  writeFileSync(join(folder, '.everproof.toml'), `compiler = ${JSON.stringify(join(folder, 'evil'))}\n`);
  writeFileSync(join(folder, 'main.c'), PROGRAM);
  vscode = await start({
    name: 'restricted', folder, smoke: false,
    settings: { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never' },
    environment: { PATH: `${tools}${delimiter}${process.env.PATH}` },
    payload: (remote) => [['openFile', remote(join(folder, 'main.c'))]],
  });
});

after(async () => {
  await vscode?.stop();
  rmSync(folder, { recursive: true, force: true });
  rmSync(tools, { recursive: true, force: true });
});

test('a folder that is not trusted is checked without running anything', async () => {
  const { page } = vscode;
  await page.locator('.statusbar', { hasText: 'Restricted Mode' }).waitFor();
  await page.locator('.squiggly-info, .squiggly-warning, .squiggly-error').first().waitFor();
  await page.locator('.codelens-decoration', { hasText: /use-after-free/ }).first().waitFor();
  await vscode.picture('restricted');
  assert.equal(await wasCompiled(page).count(), 0, 'no compiler was run');
});

test('when it is trusted, the compiler is run, but no program that its settings name', async () => {
  const { page } = vscode;
  const trust = page.locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust$/ }).first();
  await command(page, 'Workspaces: Manage Workspace Trust', trust);
  await trust.click();
  await page.locator('.statusbar', { hasText: 'Restricted Mode' }).waitFor({ state: 'detached' });
  await page.locator('.tab', { hasText: 'main.c' }).first().click();
  await wasCompiled(page).first().waitFor();
  await vscode.picture('trusted');
  assert.ok(!existsSync(mark()));
});
