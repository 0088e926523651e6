// What a person does in VS Code, by the keyboard. Each step is repeated until its effect is seen: lists fill and sort themselves late.

/** Repeats `act` until `check` holds. */
export async function until(what, act, check, tries = 5) {
  let last;
  for (let i = 0; i < tries; i++) {
    try {
      await act();
      return await check();
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`${what}: ${last}`);
}

const quickInput = (page) => page.locator('.quick-input-widget:not([style*="display: none"])');

async function choose(page, key, text, row) {
  await page.keyboard.press(key);
  const input = quickInput(page).locator('input').first();
  await input.waitFor({ timeout: 4000 });
  await input.fill(text);
  if (row !== undefined) {
    await quickInput(page).locator('.monaco-list-row.focused', { hasText: row }).first().waitFor({ timeout: 4000 });
  }
  await page.waitForTimeout(250); // the list is sorted once more when all have answered
  await page.keyboard.press('Enter');
  await quickInput(page).first().waitFor({ state: 'hidden', timeout: 4000 });
}

/** Runs a command of the palette; `shown` is a locator of its effect. */
export const command = (page, title, shown) =>
  until(`command ${title}`, () => choose(page, 'F1', `>${title}`, title), () => shown?.waitFor({ timeout: 5000 }));

/** Puts the cursor to a line and a column, both from 1; a tab is one column. */
export const goTo = (page, line, column) =>
  until(`go to ${line}:${column}`, () => choose(page, 'Control+G', `:${line}:${column}`), () => page.locator('.statusbar', { hasText: `Ln ${line}, Col` }).waitFor({ timeout: 3000 }));

export const activeTab = (page, name) => page.locator(`.tabs-container .tab[data-resource-name="${name}"].active`);

/** The tab of a file that is open. */
export const switchTo = (page, name) =>
  until(`tab ${name}`, () => page.locator(`.tabs-container .tab[data-resource-name="${name}"]`).click({ timeout: 3000 }), () => activeTab(page, name).waitFor({ timeout: 3000 }));

/** Types at a person's speed. */
export async function type(page, text) {
  await page.locator('.editor-instance textarea, .editor-instance .native-edit-context').first().focus();
  for (const key of text) {
    await (key === '\n' ? page.keyboard.press('Enter') : page.keyboard.type(key));
    await page.waitForTimeout(50);
  }
}

/** What the editor shows after the lines, as contents of style sheets. */
export const shownAfterLines = (page) =>
  page.evaluate(() => [...document.querySelectorAll('.view-lines .view-line span')].map((span) => getComputedStyle(span, '::after').content).filter((content) => content !== 'none' && content !== 'normal' && content !== ''));
