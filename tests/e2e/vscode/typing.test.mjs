// More than 300 keys in a file of spin, in VS Code, at a person's speed: what is shown meanwhile is judged by typing_log.py.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { copySpin, judgeTyping } from '../editor_session.mjs';
import { activeTab, goTo, type, until } from './person.mjs';
import { PROJECT, start } from './workbench.mjs';

const STEPS = JSON.parse(readFileSync(join(PROJECT, 'tests', 'e2e', 'typed-into-spin.json'), 'utf8'));
const PAUSE_MS = 1400; // after a step

let around;
let folder;
let vscode;
let text;

before(async () => {
  around = mkdtempSync(join(tmpdir(), 'everproof-e2e-folder-'));
  folder = copySpin(join(around, 'spin'));
  if (folder !== null) {
    text = readFileSync(join(folder, 'run.c'), 'utf8');
    vscode = await start({ name: 'typing', folder, record: true, payload: (remote) => [['openFile', remote(join(folder, 'run.c'))]] });
  }
});

after(async () => {
  await vscode?.stop();
  rmSync(around, { recursive: true, force: true });
});

test('what is shown while one types is steady', async (context) => {
  if (folder === null) {
    context.skip('there is no spin: run `make programs`');
    return;
  }
  const { page } = vscode;
  await activeTab(page, 'run.c').waitFor();
  await page.locator('[id="everproof.everproof"], .statusbar-item', { hasText: /\d+ ms|\d s/ }).first().waitFor();
  for (const { note, after: words, type: typed = '', backspace = 0 } of STEPS) {
    const at = text.indexOf(words) + words.length;
    const above = text.slice(0, at).split('\n');
    await goTo(page, above.length, above.at(-1).length + 1);
    await type(page, typed);
    for (let i = 0; i < backspace; i++) {
      await page.keyboard.press('Backspace');
      await page.waitForTimeout(50);
    }
    text = text.slice(0, at - backspace) + typed + text.slice(at);
    await page.waitForTimeout(PAUSE_MS);
    await vscode.picture(note.replaceAll(/\W+/g, '-'));
  }
  let seen;
  await until('the judgement', () => page.waitForTimeout(3000), () => { seen = judgeTyping(vscode.session, 'run.c'); }, 2);
  context.diagnostic(seen);
});
