// The verdict of each function beside the line of its name, distinguished by shape as well as by colour.

import * as vscode from 'vscode';
import { appearance, type Appearance, type StateModel } from '../model/state';
import type { DocumentStatus } from '../protocol';
import { editorRange } from './ranges';

const APPEARANCES: readonly Appearance[] = ['proved', 'confirmed', 'possible', 'unknown', 'checking', 'stale'];

export class Gutter implements vscode.Disposable {
  private readonly types: ReadonlyMap<Appearance, vscode.TextEditorDecorationType>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly model: StateModel,
    extension: vscode.Uri,
  ) {
    this.types = new Map(APPEARANCES.map((shown) => [shown, decorationType(extension, shown)]));
    this.subscriptions = [
      vscode.Disposable.from(
        model.onChange(({ uris }) => {
          this.showAll(uris);
        }),
      ),
      vscode.window.onDidChangeVisibleTextEditors(() => {
        this.showAll('all');
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('everproof.gutter') || event.affectsConfiguration('everproof.showUnknown')) {
          this.showAll('all');
        }
      }),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions, ...this.types.values()).dispose();
  }

  private showAll(uris: ReadonlySet<string> | 'all'): void {
    const wanted = vscode.workspace.getConfiguration('everproof').get<boolean>('gutter', true);
    for (const editor of vscode.window.visibleTextEditors) {
      const uri = editor.document.uri.toString();
      if (uris === 'all' || uris.has(uri)) {
        this.show(editor, wanted ? this.model.status(uri) : undefined);
      }
    }
  }

  private show(editor: vscode.TextEditor, status: DocumentStatus | undefined): void {
    const showUnknown = vscode.workspace.getConfiguration('everproof').get<boolean>('showUnknown', false);
    for (const [shown, type] of this.types) {
      const isWanted = shown !== 'unknown' || showUnknown;
      const functions = status?.functions.filter((known) => isWanted && appearance(status, known) === shown) ?? [];
      editor.setDecorations(
        type,
        functions.map((known) => editorRange(known.range)),
      );
    }
  }
}

function decorationType(extension: vscode.Uri, shown: Appearance): vscode.TextEditorDecorationType {
  const icon = (theme: string) => vscode.Uri.joinPath(extension, 'media', 'gutter', `${shown}-${theme}.svg`);
  return vscode.window.createTextEditorDecorationType({
    light: { gutterIconPath: icon('light') },
    dark: { gutterIconPath: icon('dark') },
    gutterIconSize: 'contain',
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
}
