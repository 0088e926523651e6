// The commands: those of the server, with what is shown of their answers, and the extension's own.

import * as vscode from 'vscode';
import type { ServerConnection } from './connection';
import { openExample } from './example';
import type { StateModel } from './model/state';
import { Commands, type FullCheckResult, type Introduction, type Replay, type TraceOptions } from './protocol';
import type { DerivationPanel } from './views/derivationPanel';
import type { TraceView } from './views/trace';

export function registerCommands(
  connection: ServerConnection,
  model: StateModel,
  trace: TraceView,
  derivation: DerivationPanel,
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  const handlers: Record<string, (...args: never[]) => unknown> = {
    [Commands.fullCheck]: (uri?: string) => runFullCheck(connection, uri),
    [Commands.trace]: (uri: string, fingerprint: string, options?: TraceOptions) =>
      trace.begin(uri, fingerprint, undefined, options?.whole ?? false),
    [Commands.introduced]: (uri: string, fingerprint: string) => showIntroduction(connection, uri, fingerprint),
    [Commands.status]: () => connection.execute(Commands.status, []),
    [Commands.clearStore]: () => connection.execute(Commands.clearStore, []),
    [Commands.explainRule]: (rule: string) => connection.execute(Commands.explainRule, [rule]),
    [Commands.fix]: (uri: string, fingerprint: string) => lookForFix(connection, uri, fingerprint),
    [Commands.suppress]: (uri: string, fingerprint: string) => suppress(connection, uri, fingerprint),
    [Commands.replay]: (uri: string, fingerprint: string) => replay(connection, uri, fingerprint),
    [Commands.states]: (uri?: string, name?: string) => toggleHints(connection, model, Commands.states, uri, name),
    [Commands.invariants]: (uri?: string, name?: string) =>
      toggleHints(connection, model, Commands.invariants, uri, name),
    [Commands.openSarif]: (uri?: string) => openSarif(connection, uri),
    'everproof.closeSarif': () => connection.execute(Commands.openSarif, []),
    // from the error back: what comes next is what led there
    'everproof.nextStep': () => trace.move(-1),
    'everproof.previousStep': () => trace.move(1),
    'everproof.goToStep': (uri: string, fingerprint: string, index: number) => trace.begin(uri, fingerprint, index),
    'everproof.endTrace': () => {
      trace.end();
    },
    'everproof.stepThrough': (node: { finding: { uri: string; fingerprint: string } }) =>
      trace.begin(node.finding.uri, node.finding.fingerprint),
    'everproof.showDerivation': () => derivation.show(),
    'everproof.openExample': () => openExample(context),
    'everproof.restartServer': () => connection.restart(),
    'everproof.showLog': () => {
      log.show();
    },
  };
  return vscode.Disposable.from(
    ...Object.entries(handlers).map(([name, handler]) =>
      vscode.commands.registerCommand(name, handler as (...args: unknown[]) => unknown),
    ),
  );
}

/** Turns the inlay hints of a function on or off, of the one at the cursor if none is named. */
async function toggleHints(
  connection: ServerConnection,
  model: StateModel,
  command: string,
  uri?: string,
  name?: string,
): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const document = uri ?? editor?.document.uri.toString();
  const named =
    name ??
    (document === undefined || editor === undefined
      ? undefined
      : model.functionAt(document, editor.selection.active)?.name);
  if (document === undefined || named === undefined) {
    void vscode.window.showInformationMessage('Everproof: put the cursor into a function that was checked.');
    return;
  }
  await connection.execute(command, [document, named]);
}

/** Waits for the fixes of a finding to be checked; the server asks which one to make. */
async function lookForFix(connection: ServerConnection, uri: string, fingerprint: string): Promise<void> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: 'Everproof: looking for a fix, and checking it',
    cancellable: true,
  };
  await vscode.window.withProgress(options, (_, token) => connection.execute(Commands.fix, [uri, fingerprint], token));
}

/** Asks why a finding is not to be reported, and says so in a comment. */
async function suppress(connection: ServerConnection, uri: string, fingerprint: string): Promise<void> {
  const reason = await vscode.window.showInputBox({
    title: 'Everproof: suppress this finding',
    prompt: 'Why is it not to be reported? The reason is written into the comment that suppresses it.',
    placeHolder: 'for example: the caller has tested it',
    validateInput: (text) => (text.trim() === '' ? 'Without a reason, nothing is suppressed.' : undefined),
  });
  if (reason !== undefined && !(await connection.execute<boolean>(Commands.suppress, [uri, fingerprint, reason]))) {
    void vscode.window.showWarningMessage('Everproof: the comment could not be written there.');
  }
}

/** Runs a confirmed finding under sanitizers, and shows the report beside it. The server does so only in a trusted workspace. */
async function replay(connection: ServerConnection, uri: string, fingerprint: string): Promise<void> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: 'Everproof: building the program and running it under sanitizers',
    cancellable: true,
  };
  const { text } = await vscode.window.withProgress(options, (_, token) =>
    connection.execute<Replay>(Commands.replay, [uri, fingerprint], token),
  );
  const document = await vscode.workspace.openTextDocument({ content: text });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

/** Shows the findings of a CI beside the live ones; the user chooses its report if none is named. */
async function openSarif(connection: ServerConnection, uri?: string): Promise<void> {
  const chosen = uri ?? (await chooseSarif());
  if (chosen !== undefined) {
    await connection.execute(Commands.openSarif, [chosen]);
  }
}

async function chooseSarif(): Promise<string | undefined> {
  const files = await vscode.window.showOpenDialog({
    title: 'Everproof: the SARIF of a CI',
    filters: { SARIF: ['sarif', 'json'] },
  });
  return files?.[0]?.toString();
}

/** The change that introduced a finding, as a document beside it. */
async function showIntroduction(connection: ServerConnection, uri: string, fingerprint: string): Promise<void> {
  const found = await connection.execute<Introduction | null>(Commands.introduced, [uri, fingerprint]);
  if (found === null) {
    void vscode.window.showInformationMessage('Everproof: nothing is known of what introduced this finding.');
    return;
  }
  const document = await vscode.workspace.openTextDocument({ language: 'diff', content: found.text });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

/** A full check with a notification that can be cancelled. */
async function runFullCheck(connection: ServerConnection, uri?: string): Promise<FullCheckResult> {
  const active = uri ?? vscode.window.activeTextEditor?.document.uri.toString();
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: 'Everproof: checking everything from scratch',
    cancellable: true,
  };
  const result = await vscode.window.withProgress(options, (_, token) =>
    connection.execute<FullCheckResult>(Commands.fullCheck, active === undefined ? [] : [active], token),
  );
  if (result.complete) {
    const findings =
      result.findings === 0 ? 'no findings' : result.findings === 1 ? '1 finding' : `${result.findings} findings`;
    vscode.window.setStatusBarMessage(`Everproof: the full check is complete, ${findings}.`, 10_000);
  } else {
    void vscode.window.showWarningMessage(
      `Everproof: the check is not complete: ${result.reason ?? 'the reason is not known'}`,
    );
  }
  return result;
}
