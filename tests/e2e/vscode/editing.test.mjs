// A person writes a defect, reads what is said of it, steps through it, has everything checked again, and mends it.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { activeTab, command, goTo, shownAfterLines, switchTo, type, until } from './person.mjs';
import { PROJECT, start } from './workbench.mjs';

const BEFORE = '\titem->count -= count;\n';
const DEFECT = '\tif (item->count == 0)\n\t\titem_free(item);\n';
const squiggle = (page) => page.locator('.squiggly-info, .squiggly-warning, .squiggly-error');

let around;
let folder;
let vscode;
let page;
let line; // of the first character of the defect, from 1

before(async () => {
  around = mkdtempSync(join(tmpdir(), 'everproof-e2e-folder-'));
  folder = join(around, 'inventory');
  cpSync(join(PROJECT, 'fixtures', 'demo'), folder, { recursive: true });
  const text = readFileSync(join(folder, 'inventory.c'), 'utf8');
  line = text.slice(0, text.indexOf(BEFORE) + BEFORE.length).split('\n').length;
  vscode = await start({ name: 'editing', folder, record: true, payload: (remote) => [['openFile', remote(join(folder, 'inventory.c'))]] });
  page = vscode.page;
});

after(async () => {
  await vscode?.stop();
  rmSync(around, { recursive: true, force: true });
});

/** A test that keeps a picture of what it failed at; the ones after it build on it. */
let failed = false;
function step(title, body) {
  test(title, async (context) => {
    if (failed) {
      context.skip('a step before it failed');
      return;
    }
    try {
      await body();
    } catch (error) {
      failed = true;
      await vscode?.picture('failed');
      throw error;
    }
  });
}

step('the program is checked as it is opened, and nothing is found', async () => {
  await activeTab(page, 'inventory.c').waitFor();
  await page.locator('[id="everproof.everproof"], .statusbar-item', { hasText: /\d+ ms|\d s/ }).first().waitFor();
  assert.equal(await squiggle(page).count(), 0);
});

step('a defect that is typed gets a squiggle', async () => {
  await goTo(page, line, 1);
  await type(page, DEFECT);
  await squiggle(page).first().waitFor();
  await page.locator('.codelens-decoration', { hasText: /(possible|confirmed): use-after-free/ }).first().waitFor();
  await page.locator('.statusbar-item', { hasText: /sell: (possible|confirmed)/ }).first().waitFor();
  await vscode.picture('squiggle');
});

step('a hover says what it is', async () => {
  const [at] = await findings();
  await goTo(page, at.line + 1, at.character + 2);
  const hover = page.locator('.monaco-hover:not(.hidden)', { hasText: 'use-after-free' }).first();
  await command(page, 'Show or Focus Hover', hover);
  await page.waitForTimeout(500); // it fades in
  await vscode.picture('hover');
  await page.keyboard.press('Escape');
});

step('a hover on a function says what the last key re-checked', async () => {
  const text = readFileSync(join(folder, 'inventory.c'), 'utf8').split('\n');
  const at = text.findIndex((content) => content.startsWith('static int sell('));
  await goTo(page, at + 1, 'static int s'.length + 1);
  const hover = page.locator('.monaco-hover:not(.hidden)', { hasText: 'Last check' }).first();
  await until('a hover', () => command(page, 'Show or Focus Hover', hover), async () => {
    await page.waitForTimeout(500); // it fades in; a lens that appears meanwhile takes it away
    assert.match(await hover.innerText({ timeout: 100 }), /sell: . (confirmed|possible): use-after-free/);
  });
  await vscode.picture('hover-function');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
});

step('the trace is stepped through, into another file and back', async () => {
  await goTo(page, line, 1);
  const seen = [];
  do {
    await page.keyboard.press('Control+F8');
    seen.push(await stepShown(seen.length));
    if (seen.length === 1) {
      await vscode.picture('step-error');
    } else if (seen.at(-1).tab === 'item.c' && seen.filter(({ tab }) => tab === 'item.c').length === 1) {
      await vscode.picture('step-other-file');
    }
  } while (seen.at(-1).number > 1);
  assert.deepEqual(seen.map(({ number }) => number), seen.map((_, index) => seen.length - index), 'each step once, from the error back');
  assert.ok(seen.some(({ tab }) => tab === 'item.c'), 'the block is freed in the other file');
  assert.equal(seen[0].tab, 'inventory.c');
  await page.keyboard.press('Control+Shift+F8');
  await stepShown(seen.length - 2);
});

step('the findings view lists the steps', async () => {
  const row = page.locator('.pane-body .monaco-list-row', { hasText: 'use-after-free' }).first();
  await command(page, 'View: Show Everproof', row);
  await page.locator('.pane-body .monaco-list-row.selected', { hasText: /^2\. / }).first().waitFor();
  await vscode.picture('findings');
});

step('the trace ends with Escape', async () => {
  await switchTo(page, 'inventory.c');
  await goTo(page, line, 1);
  await until('ended', () => page.keyboard.press('Escape'), async () => {
    await page.waitForTimeout(200);
    assert.ok(!(await shownAfterLines(page)).some((content) => /\d+\/\d+ /.test(content)));
  });
});

step('the derivation graph begins at the finding, and leads to the code', async () => {
  const [at] = await findings();
  await goTo(page, at.line + 1, at.character + 2);
  await command(page, 'Draw the Derivation Graph of the Function', page.locator('.tab', { hasText: 'Derivation Graph: sell' }));
  const graph = page.frameLocator('iframe.webview').frameLocator('#active-frame');
  const error = graph.locator('g.error[aria-label*="use-after-free"]').first();
  await error.waitFor();
  await command(page, 'View: Toggle Primary Side Bar Visibility');
  await error.scrollIntoViewIfNeeded();
  await error.focus();
  await vscode.picture('derivation');
  await error.focus();
  await page.keyboard.press('ArrowUp');
  const before = graph.locator('g.configuration:focus');
  await before.waitFor();
  const place = / line (\d+)/.exec(await before.getAttribute('aria-label'));
  await page.keyboard.press('Enter');
  await page.locator('.statusbar', { hasText: `Ln ${place[1]}, Col` }).waitFor();
  await page.locator('.tab', { hasText: 'Derivation Graph: sell' }).locator('.codicon-close').click();
  await command(page, 'View: Toggle Primary Side Bar Visibility');
});

step('the states of the rules are shown along the function, and go again', async () => {
  await goTo(page, line, 1);
  const hint = page.locator('.view-line', { hasText: /printf.*item\sis\sfreed/ });
  await command(page, "Show or Hide the Rules' States along the Function", hint.first());
  await vscode.picture('states');
  await command(page, "Show or Hide the Rules' States along the Function");
  await hint.first().waitFor({ state: 'detached' });
});

step('a full check by the code action finds the same', async () => {
  const [at] = await findings();
  await goTo(page, at.line + 1, at.character + 2);
  const menu = page.locator('.action-widget:visible').first();
  await until('code actions', () => page.keyboard.press('Control+.'), () => menu.waitFor({ timeout: 4000 }));
  await menu.locator('.monaco-list-row', { hasText: 'run a full check' }).waitFor();
  await vscode.picture('actions');
  const focused = menu.locator('.monaco-list-row.focused', { hasText: 'run a full check' });
  await until('full check chosen', () => page.keyboard.press('ArrowDown'), () => focused.waitFor({ timeout: 300 }), 12);
  await page.keyboard.press('Enter');
  await page.locator('.statusbar', { hasText: 'the full check is complete, 1 finding' }).waitFor();
  assert.ok(await squiggle(page).count() > 0);
});

step('a suppression asks for the reason, and takes the finding away until it is undone', async () => {
  const [at] = await findings();
  await goTo(page, at.line + 1, at.character + 2);
  const menu = page.locator('.action-widget:visible').first();
  await until('code actions', () => page.keyboard.press('Control+.'), () => menu.waitFor({ timeout: 4000 }));
  const focused = menu.locator('.monaco-list-row.focused', { hasText: 'suppress' });
  await until('suppressing chosen', () => page.keyboard.press('ArrowDown'), () => focused.waitFor({ timeout: 300 }), 16);
  await page.keyboard.press('Enter');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  await input.fill('the last line of the demo');
  await page.keyboard.press('Enter');
  await page.locator('.view-line', { hasText: /\/\/\severproof:\signore\suse-after-free\sthe\slast\sline/ }).first().waitFor();
  await squiggle(page).first().waitFor({ state: 'detached' });
  await vscode.picture('suppressed');
  await goTo(page, at.line + 1, 1);
  await page.keyboard.press('Control+z');
  await squiggle(page).first().waitFor();
});

step('the Testing view has the verdicts', async () => {
  const row = page.locator('.test-explorer .monaco-list-row', { hasText: 'inventory.c' }).first();
  await command(page, 'Testing: Focus on Test Explorer View', row);
  const failing = page.locator('.test-explorer .monaco-list-row', { hasText: 'sell' }).first();
  await until('the functions', async () => {
    await row.click();
    await page.keyboard.press('ArrowRight');
  }, () => failing.waitFor({ timeout: 1500 }));
  await failing.locator('.codicon-testing-failed-icon').waitFor();
  await vscode.picture('testing');
});

step('a run of one function reports that function alone', async () => {
  const asked = fullChecks();
  const failing = page.locator('.test-explorer .monaco-list-row', { hasText: 'sell' }).first();
  await until('the run', async () => {
    await failing.hover();
    await failing.locator('.codicon-testing-run-icon').first().click({ timeout: 3000 });
  }, () => page.locator('.test-explorer .result-summary', { hasText: '0/1' }).waitFor({ timeout: 10_000 }));
  await failing.locator('.codicon-testing-failed-icon').waitFor();
  await vscode.picture('testing-one');
  assert.equal(fullChecks(), asked, 'no full check is asked for');
});

step('the mended text has no squiggle', async () => {
  await switchTo(page, 'inventory.c');
  await goTo(page, line, 1);
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Delete');
  await squiggle(page).first().waitFor({ state: 'detached' });
  await page.locator('.codelens-decoration', { hasText: /possible|confirmed/ }).first().waitFor({ state: 'detached' });
  await page.locator('.statusbar-item', { hasText: /sell · \d/ }).first().waitFor();
  await vscode.picture('mended');
});

step('what editor and server said to each other keeps to the protocol', async () => {
  const judge = [join(PROJECT, 'tests', 'e2e', 'session_log.py'), vscode.session];
  // the editor is still there, and may have asked something a moment ago
  const stdout = await until('the log', () => page.waitForTimeout(500), () => {
    const done = spawnSync(join(PROJECT, '.venv', 'bin', 'python'), judge, { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stdout + done.stderr);
    return done.stdout;
  });
  assert.match(stdout, /client textDocument\/didChange/);
  assert.match(stdout, /server textDocument\/publishDiagnostics/);
});

/** How often the editor asked for a full check. (The server names the command, too, among the actions of a line.) */
function fullChecks() {
  const messages = readFileSync(vscode.session, 'utf8').split('\n').filter((line) => line.includes('"from": "client"'));
  return messages.filter((line) => line.includes('"command": "everproof.fullCheck"')).length;
}

/** The step that the editor shows, once it is so many before the error. */
async function stepShown(back) {
  let shown;
  await until(`the step ${back} before the error`, () => page.waitForTimeout(50), async () => {
    shown = /(\d+)\/(\d+) /.exec((await shownAfterLines(page)).join(' '));
    assert.ok(shown !== null && Number(shown[1]) === Number(shown[2]) - back);
  }, 200);
  return { number: Number(shown[1]), count: Number(shown[2]), tab: await page.locator('.tabs-container .tab.active').getAttribute('data-resource-name') };
}

/** The places of the findings of inventory.c, as the server said them last. */
async function findings() {
  const messages = readFileSync(vscode.session, 'utf8').trim().split('\n').map((entry) => JSON.parse(entry).message);
  const published = messages.filter(({ method, params }) => method === 'textDocument/publishDiagnostics' && params.uri.endsWith('/inventory.c'));
  const places = published.at(-1).params.diagnostics.map(({ range }) => range.start);
  assert.ok(places.length > 0, 'there is a finding');
  return places;
}
