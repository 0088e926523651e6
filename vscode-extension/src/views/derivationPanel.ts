// The panel that draws the derivation graph of a function, or what of it leads to a line, and follows it while the program is edited
// and while a trace is stepped through.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { drawing, escape } from '../model/drawing';
import type { StateModel } from '../model/state';
import { Commands, type FunctionDerivations } from '../protocol';
import { editorRange } from './ranges';
import type { TraceView } from './trace';

type Execute = (command: string, args: readonly unknown[]) => Promise<FunctionDerivations | null>;

/** What is drawn: a function, or with a line (from 0) what of it leads there. */
interface Shown {
  readonly uri: string;
  readonly name: string;
  readonly line: number | undefined;
  graph: FunctionDerivations | null | undefined;
}

type Message = { readonly index: number; readonly focus: boolean } | { readonly whole: boolean };

export class DerivationPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: Shown | undefined;
  private asking = false;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly model: StateModel,
    private readonly trace: TraceView,
    private readonly execute: Execute,
    private readonly extension: vscode.Uri,
  ) {
    this.subscription = vscode.Disposable.from(
      trace.onDidMove(() => {
        void this.follow();
      }),
      model.onChange(({ uris }) => {
        const uri = this.shown?.uri;
        if (uri !== undefined && (uris === 'all' || uris.has(uri)) && model.status(uri)?.state === 'idle') {
          void this.refresh();
        }
      }),
    );
  }

  dispose(): void {
    this.panel?.dispose();
    this.subscription.dispose();
  }

  /** Draws what leads to the cursor. */
  async show(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const uri = editor?.document.uri.toString() ?? '';
    const known = editor === undefined ? undefined : this.model.functionAt(uri, editor.selection.active);
    if (known === undefined) {
      void vscode.window.showInformationMessage('Everproof: put the cursor into a function that was checked.');
      return;
    }
    this.shown = { uri, name: known.name, line: editor?.selection.active.line, graph: undefined };
    this.panel ??= this.create();
    this.panel.reveal(undefined, false);
    await this.refresh();
  }

  /** Shows the step of the trace that is stepped to; if it is not in the picture, what leads to it. */
  private async follow(): Promise<void> {
    const { panel, shown } = this;
    const step = this.trace.walking?.current;
    if (panel === undefined || shown === undefined || step === undefined) {
      return;
    }
    const uri = vscode.Uri.parse(step.uri).toString();
    const known = this.model.functionAt(uri, step.range.start);
    const isDrawn = shown.graph?.configurations.some(
      (one) => one.uri === step.uri && one.range.start.line === step.range.start.line,
    );
    if (known !== undefined && (uri !== shown.uri || known.name !== shown.name || isDrawn !== true)) {
      this.shown = { uri, name: known.name, line: step.range.start.line, graph: undefined };
      await this.refresh();
    }
    await panel.webview.postMessage({ uri: step.uri, line: step.range.start.line });
  }

  /** Draws all of the function, or again what leads to the cursor, if it is in the function. */
  private async toggle(whole: boolean): Promise<void> {
    const shown = this.shown;
    if (shown === undefined) {
      return;
    }
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === shown.uri);
    const position = editor?.selection.active;
    const isInside = position !== undefined && this.model.functionAt(shown.uri, position)?.name === shown.name;
    this.shown = { ...shown, line: whole ? undefined : isInside ? position.line : 0, graph: undefined };
    await this.refresh();
  }

  private create(): vscode.WebviewPanel {
    const media = vscode.Uri.joinPath(this.extension, 'media');
    const panel = vscode.window.createWebviewPanel(
      'everproof.derivation',
      'Derivation Graph',
      { viewColumn: vscode.ViewColumn.Beside },
      { enableScripts: true, localResourceRoots: [media] },
    );
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.shown = undefined;
    });
    panel.webview.onDidReceiveMessage((message: Message) => {
      void ('whole' in message ? this.toggle(message.whole) : this.goTo(message.index, message.focus));
    });
    return panel;
  }

  private async refresh(): Promise<void> {
    const { panel, shown } = this;
    if (panel === undefined || shown === undefined || this.asking) {
      return;
    }
    this.asking = true;
    const asked = [shown.uri, shown.name, ...(shown.line === undefined ? [] : [shown.line])];
    const graph = await this.execute(Commands.derivation, asked)
      .catch(() => null)
      .finally(() => {
        this.asking = false;
      });
    if (this.panel !== panel || this.shown !== shown) {
      await this.refresh(); // another function was asked for meanwhile
      return;
    }
    if (JSON.stringify(graph) !== JSON.stringify(shown.graph)) {
      shown.graph = graph;
      panel.title = `Derivation Graph: ${shown.name}`;
      panel.webview.html = this.page(panel.webview, shown.name, graph);
    }
  }

  private async goTo(index: number, focus: boolean): Promise<void> {
    const configuration = this.shown?.graph?.configurations[index];
    if (configuration !== undefined) {
      await vscode.window.showTextDocument(vscode.Uri.parse(configuration.uri), {
        viewColumn: vscode.ViewColumn.One,
        selection: editorRange(configuration.range),
        preserveFocus: !focus,
      });
    }
  }

  private page(webview: vscode.Webview, name: string, graph: FunctionDerivations | null): string {
    const nonce = randomBytes(16).toString('hex');
    const file = (path: string) => webview.asWebviewUri(vscode.Uri.joinPath(this.extension, 'media', path)).toString();
    const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
    const nothing = `<p>Nothing was derived in ${escape(name)}: it is not reached from an entry, or it was not checked yet.</p>`;
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${file('derivation.css')}">
<title>Derivation graph of ${escape(name)}</title>
</head>
<body>
${graph === null ? nothing : drawing(graph)}
<script nonce="${nonce}" src="${file('derivation.js')}"></script>
</body>
</html>`;
  }
}
