// Restricted Mode: a folder that is not trusted has nothing executed for it, whatever its settings say; trusted, it is compiled.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { command, until } from './person.mjs';
import { start } from './workbench.mjs';

const PROGRAM = `void *malloc(unsigned long size);
void free(void *block);

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

/** A program that leaves a mark when it is run, and does what `then` says. */
function program(file, mark, then) {
  writeFileSync(file, `#!/bin/sh\ntouch "${mark}"\n${then}\n`);
  chmodSync(file, 0o755);
}

const mark = (name) => join(tools, `${name} was run`);

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'everproof-e2e-folder-'));
  tools = mkdtempSync(join(tmpdir(), 'everproof-e2e-tools-'));
  for (const name of ['gcc', 'clang', 'cc']) {
    program(join(tools, name), mark('compiler'), `PATH=\${PATH#*:} exec gcc "$@"`);
  }
  program(join(folder, 'evil'), mark('program of the folder'), 'exit 1');
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
  await vscode.picture('restricted');
  assert.ok(!existsSync(mark('compiler')), 'no compiler was run');
});

test('when it is trusted, the compiler is run, but no program that its settings name', async () => {
  const { page } = vscode;
  const trust = page.locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust$/ }).first();
  await command(page, 'Workspaces: Manage Workspace Trust', trust);
  await trust.click();
  await page.locator('.statusbar', { hasText: 'Restricted Mode' }).waitFor({ state: 'detached' });
  await until('the compiler', () => page.waitForTimeout(100), () => assert.ok(existsSync(mark('compiler'))), 1800);
  await vscode.picture('trusted');
  assert.ok(!existsSync(mark('program of the folder')));
});
