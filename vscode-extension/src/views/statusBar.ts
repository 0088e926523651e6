// The state of the server, the verdict of the function under the cursor, and what the last check took.

import * as vscode from 'vscode';
import type { StateModel } from '../model/state';
import { statusText } from '../model/words';

export class StatusBar implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly model: StateModel) {
    this.item = vscode.window.createStatusBarItem('everproof.status', vscode.StatusBarAlignment.Left, 10);
    this.item.name = 'Everproof';
    const show = () => {
      this.show();
    };
    this.subscriptions = [
      this.item,
      vscode.Disposable.from(model.onChange(show)),
      vscode.window.onDidChangeActiveTextEditor(show),
      vscode.window.onDidChangeTextEditorSelection(show),
      vscode.workspace.onDidGrantWorkspaceTrust(show),
      vscode.workspace.onDidChangeConfiguration(show),
    ];
    this.show();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private show(): void {
    const editor = vscode.window.activeTextEditor;
    const wanted = vscode.workspace.getConfiguration('everproof').get<boolean>('statusBar', true);
    const uri = editor?.document.uri.toString();
    const status = uri === undefined ? undefined : this.model.status(uri);
    if (!wanted || editor === undefined || (editor.document.languageId !== 'c' && status === undefined)) {
      this.item.hide();
      return;
    }
    const known = uri === undefined ? undefined : this.model.functionAt(uri, editor.selection.active);
    const { text, details, warning } = statusText(this.model.connection, status, known);
    const restricted = vscode.workspace.isTrusted
      ? []
      : ['Restricted Mode: no compiler is run, so macros and headers are not expanded.'];
    this.item.text = text;
    this.item.command = this.model.connection === 'missing' ? 'everproof.restartServer' : 'everproof.showLog';
    this.item.tooltip = [...details, ...restricted].join('\n\n');
    this.item.backgroundColor = warning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.item.show();
  }
}
