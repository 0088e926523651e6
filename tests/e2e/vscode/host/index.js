// Runs inside VS Code's extension host, beside the installed extension: what can be asked by VS Code's own interface.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const vscode = require('vscode');

const PATIENCE = 180_000;
const uriOf = (name) => vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, 'src', name);
const findings = (uri) => vscode.languages.getDiagnostics(uri).filter(({ source, code }) => source === 'everproof' && code?.value !== undefined);

/** Asks again until the answer is not falsy. */
async function eventually(what, ask) {
  const begun = Date.now();
  for (;;) {
    const answer = await ask();
    if (answer) {
      return answer;
    }
    if (Date.now() - begun > PATIENCE) {
      throw new Error(`never: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function edit(uri, change) {
  const work = new vscode.WorkspaceEdit();
  change(work);
  assert.ok(await vscode.workspace.applyEdit(work));
}

const tests = {
  async 'activation does not wait for the server'({ state }) {
    const extension = vscode.extensions.getExtension('everproof.everproof');
    const begun = performance.now();
    state.api = await extension.activate();
    state.activation = performance.now() - begun;
    assert.equal(state.api.model.connection, 'starting');
    await state.api.started;
    assert.equal(state.api.model.connection, 'running');
  },

  async 'all commands of package.json are registered'() {
    const { contributes } = vscode.extensions.getExtension('everproof.everproof').packageJSON;
    const there = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(contributes.commands.map(({ command }) => command).filter((command) => !there.has(command)), []);
  },

  async 'a finding has its rule, its trace and its place in the state model'({ state }) {
    const uri = uriOf('main.c');
    state.document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(state.document);
    const [found] = await eventually('a finding', () => findings(uri).length > 0 && findings(uri));
    assert.equal(found.code.value, 'use-after-free');
    assert.equal(state.document.getText(found.range), 'return p->x;');
    const files = new Set(found.relatedInformation.map(({ location }) => location.uri.path.split('/').at(-1)));
    assert.deepEqual(files, new Set(['main.c', 'point.c']), 'the trace leads through both files');
    const [known] = state.api.model.findings(uri.toString());
    assert.deepEqual([known.rule, known.stale, known.related.length], ['use-after-free', false, found.relatedInformation.length]);
  },

  async 'the status of the document is that of its version'({ state }) {
    const status = await eventually('idle', () => {
      const known = state.api.model.status(state.document.uri.toString());
      return known?.state === 'idle' && known;
    });
    assert.equal(status.version, state.document.version);
    assert.deepEqual(status.functions.map(({ name, verdict, stale }) => [name, verdict, stale]), [['main', 'violated', false]]);
    assert.ok(status.times.total > 0);
    assert.ok(status.memory > 1e6, 'the memory of the checker');
  },

  async 'columns count in UTF-16'({ state }) {
    const { uri } = state.document;
    const line = findings(uri)[0].range.start.line;
    await edit(uri, (work) => work.insert(uri, new vscode.Position(line, 1), '/* 😀é */ '));
    const [moved] = await eventually('the finding at its new place', () => {
      const now = findings(uri);
      return now.length > 0 && now[0].range.start.character > 8 && now;
    });
    assert.equal(state.document.getText(moved.range), 'return p->x;');
  },

  async 'stepping reveals each place of the trace'({ state }) {
    // what provers make of a finding has a trace of its own, the run that confirms it
    const [found] = await eventually('a confirmed finding', () => {
      const now = findings(state.document.uri);
      return now[0]?.severity === vscode.DiagnosticSeverity.Error && now;
    });
    await vscode.window.showTextDocument(state.document, { selection: new vscode.Range(found.range.start, found.range.start) });
    for (const { location } of [...found.relatedInformation].reverse()) {
      await vscode.commands.executeCommand('everproof.nextStep');
      const editor = vscode.window.activeTextEditor;
      assert.equal(editor.document.uri.toString(), location.uri.toString());
      assert.deepEqual(editor.selection.active, location.range.start);
    }
    await vscode.commands.executeCommand('everproof.previousStep');
    assert.deepEqual(vscode.window.activeTextEditor.selection.active, found.relatedInformation.at(1).location.range.start);
    await vscode.commands.executeCommand('everproof.endTrace');
  },

  async 'the lens, the hover and the command of the trace say the same'({ state }) {
    const { uri } = state.document;
    const lenses = await eventually('lenses', async () => {
      const there = await vscode.commands.executeCommand('vscode.executeCodeLensProvider', uri, 100);
      return there.length > 0 && there;
    });
    const lens = lenses.find(({ command }) => /possible|confirmed/.test(command.title));
    assert.equal(lens.command.command, 'everproof.trace');
    const steps = await vscode.commands.executeCommand(lens.command.command, ...lens.command.arguments);
    assert.equal(steps.length, findings(uri)[0].relatedInformation.length);
    await vscode.commands.executeCommand('everproof.endTrace');
    const hovers = await vscode.commands.executeCommand('vscode.executeHoverProvider', uri, lens.range.start);
    const text = hovers.flatMap(({ contents }) => contents.map(({ value }) => value)).join('\n');
    assert.match(text, /\*\*main\*\*: (✗ confirmed|⚠ possible): use-after-free/);
    assert.match(text, /Last check/);
  },

  async 'the states of the rules are shown along a function for which they are asked'({ state }) {
    const { uri } = state.document;
    const everything = new vscode.Range(0, 0, state.document.lineCount, 0);
    const hints = () => vscode.commands.executeCommand('vscode.executeInlayHintProvider', uri, everything);
    const said = (shown) => shown.map(({ position, label }) => `${state.document.lineAt(position.line).text.trim()}  ${typeof label === 'string' ? label : label.map(({ value }) => value).join('')}`);
    assert.deepEqual(said(await hints()), []);
    await vscode.commands.executeCommand('everproof.states', uri.toString(), 'main');
    const shown = await eventually('hints', async () => {
      const there = await hints();
      return there.length > 0 && there;
    });
    assert.ok(said(shown).some((line) => /return p->x;  .*p is freed/.test(line)), said(shown).join('\n'));
    assert.ok(shown.every(({ position }) => position.character === state.document.lineAt(position.line).text.length), 'at the ends of lines');
    await vscode.commands.executeCommand('everproof.states', uri.toString(), 'main');
    await eventually('no hints', async () => (await hints()).length === 0);
  },

  async 'the command everproof.status says what the notifications said'({ state }) {
    const told = await vscode.commands.executeCommand('everproof.status');
    const one = told.find(({ uri }) => vscode.Uri.parse(uri).toString() === state.document.uri.toString());
    const known = state.api.model.status(state.document.uri.toString());
    assert.deepEqual([one.version, one.state, one.functions], [known.version, known.state, known.functions]);
  },

  async 'a confirmed finding is run under sanitizers, and the report is shown beside it'({ state }) {
    const { uri } = state.document;
    const [known] = await eventually('a confirmed finding', () => findings(uri)[0]?.severity === vscode.DiagnosticSeverity.Error && state.api.model.findings(uri.toString()));
    await vscode.commands.executeCommand('everproof.replay', uri.toString(), known.fingerprint);
    const shown = vscode.window.visibleTextEditors.map(({ document }) => document).find((document) => document.isUntitled);
    assert.match(shown?.getText() ?? 'nothing', /^reproduced.*heap-use-after-free/ms);
    await vscode.window.showTextDocument(state.document, { viewColumn: vscode.ViewColumn.One });
  },

  async 'a full check answers when it is complete'() {
    const answer = await vscode.commands.executeCommand('everproof.fullCheck');
    assert.deepEqual(answer, { complete: true, reason: null, findings: 1, heldBack: 0 });
  },

  async 'a setting is in force at once'({ state }) {
    const { uri } = state.document;
    const settings = vscode.workspace.getConfiguration('everproof');
    await settings.update('rules', ['memory-leak'], vscode.ConfigurationTarget.Workspace);
    await eventually('no finding of another rule', () => findings(uri).length === 0);
    await settings.update('rules', undefined, vscode.ConfigurationTarget.Workspace);
    await eventually('the finding', () => findings(uri).length === 1);
  },

  async 'a server that is started again knows all that is open'({ state }) {
    const { uri } = state.document;
    const seen = [];
    const subscription = state.api.model.onChange(() => seen.push(state.api.model.connection));
    await vscode.commands.executeCommand('everproof.restartServer');
    await eventually('the finding', () => findings(uri).length === 1 && state.api.model.status(uri.toString())?.state === 'idle');
    subscription.dispose();
    assert.ok(seen.includes('stopped') && seen.at(-1) === 'running', seen.join(' '));
    assert.equal(state.api.model.status(uri.toString()).version, state.document.version);
  },

  async 'the example of the walkthrough has a finding, and a fix that was checked takes it away until it is undone'() {
    await vscode.commands.executeCommand('everproof.openExample');
    const { document } = vscode.window.activeTextEditor;
    const { uri } = document;
    assert.match(uri.path, /\/stock\.c$/);
    assert.ok(!uri.path.startsWith(vscode.workspace.workspaceFolders[0].uri.path));
    const [found] = await eventually('its finding', () => findings(uri).length > 0 && findings(uri));
    assert.equal(found.code.value, 'null-dereference');
    assert.match(document.lineAt(found.range.start.line).text, /what if there is no such item/);
    const fix = await eventually('a checked fix', async () => {
      const actions = await vscode.commands.executeCommand('vscode.executeCodeActionProvider', uri, findings(uri)[0]?.range ?? found.range, vscode.CodeActionKind.QuickFix.value);
      return actions.find(({ title, edit }) => title.includes('(checked)') && edit);
    });
    const before = document.getText();
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.match(document.getText(), /if \(!item\)\n\t\treturn;\n\n?\titem->count/);
    await eventually('no finding', () => findings(uri).length === 0);
    await vscode.commands.executeCommand('undo');
    assert.equal(document.getText(), before);
    await eventually('the finding', () => findings(uri).length === 1);
  },
};

exports.run = async () => {
  const state = {};
  const results = [];
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test({ state });
      results.push({ name });
    } catch (error) {
      results.push({ name, error: String(error?.stack ?? error) });
    }
  }
  fs.writeFileSync(process.env.EVERPROOF_HOST_RESULTS, JSON.stringify({ version: vscode.version, activation: state.activation, results }));
};
