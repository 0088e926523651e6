// The pictures of the documentation: a person finds, reads, steps through and mends a defect, in a window of 1200 pixels and in one of
// 700, in light, dark and high contrast. `python tests/e2e/pictures.py` puts them where they belong.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { activeTab, command, goTo, switchTo, type, until } from './person.mjs';
import { PROJECT, start } from './workbench.mjs';

const BEFORE = '\titem->count -= count;\n';
const DEFECT = '\tif (item->count == 0)\n\t\titem_free(item);\n';
const THEMES = { light: 'Default Light Modern', dark: 'Default Dark Modern', contrast: 'Default High Contrast' };
const squiggle = (page) => page.locator('.squiggly-info, .squiggly-warning, .squiggly-error');

for (const [look, theme] of Object.entries(THEMES)) {
  describe(look, () => pictures(look, theme));
}

function pictures(look, theme) {
  let around;
  let folder;
  let vscode;
  let page;
  let line;

  before(async () => {
    around = mkdtempSync(join(tmpdir(), 'everproof-e2e-folder-'));
    folder = join(around, 'inventory');
    cpSync(join(PROJECT, 'fixtures', 'demo'), folder, { recursive: true });
    const text = readFileSync(join(folder, 'inventory.c'), 'utf8');
    line = text.slice(0, text.indexOf(BEFORE) + BEFORE.length).split('\n').length;
    vscode = await start({
      name: `pictures-${look}`, folder, width: 700, settings: { 'workbench.colorTheme': theme },
      payload: (remote) => [['openFile', remote(join(folder, 'inventory.c'))]],
    });
    page = vscode.page;
  });

  after(async () => {
    await vscode?.stop();
    rmSync(around, { recursive: true, force: true });
  });

  test(`pictures: ${look}`, async () => {
    await activeTab(page, 'inventory.c').waitFor();
    await until('no side bar', () => page.keyboard.press('Control+b'), () => page.locator('.part.sidebar').waitFor({ state: 'hidden', timeout: 3000 }), 9);
    await page.locator('[id="everproof.everproof"], .statusbar-item', { hasText: /\d+ ms|\d s/ }).first().waitFor();
    await goTo(page, line, 1);
    await type(page, DEFECT);
    await squiggle(page).first().waitFor();
    await page.locator('.codelens-decoration', { hasText: /(confirmed|possible): use-after-free/ }).first().waitFor();
    assert.equal(await page.locator('.codelens-decoration', { hasText: 'unknown' }).count(), 0, 'no wall of "unknown"');
    await goTo(page, line + 2, 3);
    await page.waitForTimeout(700);
    await vscode.picture('squiggle');
    const hover = page.locator('.monaco-hover:not(.hidden)', { hasText: 'use-after-free' }).first();
    await until('a hover', async () => {
      await squiggle(page).first().hover({ force: true });
      await page.waitForTimeout(900);
    }, async () => {
      await hover.waitFor({ timeout: 2000 });
      await page.waitForTimeout(500); // it fades in; a lens that appears meanwhile takes it away
      assert.ok(await hover.isVisible());
    });
    await vscode.picture('finding');
    await page.keyboard.press('Escape');
    await goTo(page, line, 1);
    await page.keyboard.press('Control+F8');
    await page.waitForTimeout(900);
    await page.keyboard.press('Control+F8');
    await page.waitForTimeout(900);
    await vscode.picture('step');
    await page.keyboard.press('Escape');
    await switchTo(page, 'inventory.c');
    await command(page, 'Problems: Focus on Problems View', page.locator('.markers-panel .monaco-list-row', { hasText: 'use-after-free' }).first());
    await page.waitForTimeout(500);
    await vscode.picture('problems');
  });
}
