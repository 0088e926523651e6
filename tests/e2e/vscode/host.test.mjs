// The tests of host/index.js, each as one of its own here.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from './workbench.mjs';

const HOST = join(dirname(fileURLToPath(import.meta.url)), 'host');
const PATIENCE_MS = 900_000;
const MAIN = `#include <stdlib.h>

#include "point.h"

int main(void)
{
\tstruct point *p = malloc(sizeof *p);

\tif (!p)
\t\treturn 1;
\tpoint_free(p);
\treturn p->x;
}
`;
const POINT = `#include <stdlib.h>

#include "point.h"

void point_free(struct point *p)
{
\tfree(p);
}
`;
const HEADER = `struct point {
\tint x, y;
};

void point_free(struct point *p);
`;

const folder = mkdtempSync(join(tmpdir(), 'everproof-e2e-folder-'));
const results = join(folder, '.results.json');
const sources = join(folder, 'src'); // not the folder itself: VS Code would activate the extension before the tests do
mkdirSync(sources);
writeFileSync(join(sources, 'main.c'), MAIN);
writeFileSync(join(sources, 'point.c'), POINT);
writeFileSync(join(sources, 'point.h'), HEADER);

let ended;
const end = new Promise((resolve) => {
  ended = resolve;
});
process.env.EVERPROOF_HOST_RESULTS = results;
const vscode = await start({
  name: 'host', folder, wait: false,
  settings: { 'everproof.budgets': { taskSeconds: 120 } }, // of the clock: what a prover finds must not depend on what else runs
  payload: (remote) => [['extensionDevelopmentPath', remote(HOST)], ['extensionTestsPath', remote(join(HOST, 'index.js'))]],
  hooks: { codeAutomationLog: () => undefined, codeAutomationExit: (code) => ended(code) },
});
const timer = setTimeout(() => ended('it took too long'), PATIENCE_MS);
const code = await end;
clearTimeout(timer);
await vscode.stop();

test('the tests in the extension host came to their end', () => assert.equal(code, 0));

const told = code === 0 ? JSON.parse(readFileSync(results, 'utf8')) : { results: [] };
for (const { name, error } of told.results) {
  test(name, () => assert.equal(error, undefined));
}
test('the extension is activated', (context) => context.diagnostic(`in VS Code ${told.version}, after ${told.activation?.toFixed(0)} ms`));
rmSync(folder, { recursive: true, force: true });
