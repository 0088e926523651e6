// Stepping through a counterexample in the editor: the current step is revealed, and its values stand beside it.

import * as vscode from 'vscode';
import type { StateModel } from '../model/state';
import { TraceWalk, valuesText } from '../model/walk';
import { Commands, type TraceStep } from '../protocol';
import { editorRange } from './ranges';

type Execute = (command: string, args: readonly unknown[]) => Promise<readonly TraceStep[]>;

export class TraceView implements vscode.Disposable {
  private walk: TraceWalk | undefined;
  private uri = '';
  private whole = false;
  private readonly current: vscode.TextEditorDecorationType;
  private readonly others: vscode.TextEditorDecorationType;
  private readonly moved = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];

  /** After each step, and when a walk begins or ends. */
  readonly onDidMove = this.moved.event;

  constructor(
    private readonly model: StateModel,
    private readonly execute: Execute,
  ) {
    this.current = vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      backgroundColor: new vscode.ThemeColor('editor.stackFrameHighlightBackground'),
      overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.warningForeground'),
      overviewRulerLane: vscode.OverviewRulerLane.Full,
    });
    this.others = vscode.window.createTextEditorDecorationType({
      borderWidth: '0 0 1px 0',
      borderStyle: 'dotted',
      borderColor: new vscode.ThemeColor('editorWarning.foreground'),
    });
    this.subscriptions = [
      this.current,
      this.others,
      this.moved,
      vscode.Disposable.from(
        model.onChange(() => {
          void this.renew();
        }),
      ),
      vscode.window.onDidChangeVisibleTextEditors(() => {
        this.decorate();
      }),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** The walk under way. */
  get walking(): TraceWalk | undefined {
    return this.walk;
  }

  /** Begins to walk the steps that explain a finding, or the `whole` trace, at a step, at the error if none is given. */
  async begin(uri: string, fingerprint: string, start?: number, whole = false): Promise<readonly TraceStep[]> {
    const steps = await this.execute(Commands.trace, [uri, fingerprint, { whole }]);
    if (steps.length === 0) {
      void vscode.window.showInformationMessage('Everproof: this finding is gone, or it has no trace.');
      this.end();
      return steps;
    }
    this.uri = uri;
    this.whole = whole;
    this.walk = new TraceWalk(fingerprint, steps, start);
    await this.show();
    return steps;
  }

  /** A step on along the path, or back from the error. Without a walk, that of the finding nearest to the cursor begins. */
  async move(distance: number): Promise<void> {
    if (this.walk === undefined) {
      await this.beginNearest();
    } else if (this.walk.move(distance)) {
      await this.show();
    } else {
      vscode.window.setStatusBarMessage(distance > 0 ? 'This is the error.' : 'This is where the trace begins.', 3000);
    }
  }

  end(): void {
    if (this.walk !== undefined) {
      this.walk = undefined;
      this.decorate();
      void vscode.commands.executeCommand('setContext', 'everproof.tracing', false);
      this.moved.fire();
    }
  }

  private async beginNearest(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const uri = editor?.document.uri.toString() ?? '';
    const line = editor?.selection.active.line ?? 0;
    const found = [...this.model.findings(uri)].sort(
      (a, b) => Math.abs(a.range.start.line - line) - Math.abs(b.range.start.line - line),
    );
    const nearest = found[0];
    if (nearest === undefined) {
      void vscode.window.showInformationMessage('Everproof: there is no finding in this file.');
    } else {
      await this.begin(nearest.uri, nearest.fingerprint);
    }
  }

  /** The server moved the finding, or took it back: the walk follows it, or ends. */
  private async renew(): Promise<void> {
    const walk = this.walk;
    if (walk === undefined) {
      return;
    }
    if (this.model.finding(walk.fingerprint) === undefined) {
      this.end();
      return;
    }
    const steps = await this.execute(Commands.trace, [this.uri, walk.fingerprint, { whole: this.whole }]).catch(
      () => [],
    );
    if (this.walk !== walk) {
      return;
    }
    if (steps.length === 0) {
      this.end();
    } else if (JSON.stringify(steps) !== JSON.stringify(walk.steps)) {
      this.walk = walk.renewed(steps);
      this.decorate();
      this.moved.fire();
    }
  }

  private async show(): Promise<void> {
    const walk = this.walk;
    if (walk === undefined) {
      return;
    }
    const step = walk.current;
    const range = editorRange(step.range);
    void vscode.commands.executeCommand('setContext', 'everproof.tracing', true);
    const editor = await vscode.window.showTextDocument(vscode.Uri.parse(step.uri), {
      selection: new vscode.Range(range.start, range.start),
      preserveFocus: false,
    });
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    this.decorate([editor]); // it may not be among the visible ones yet
    this.moved.fire();
  }

  private decorate(others: readonly vscode.TextEditor[] = []): void {
    for (const editor of new Set([...vscode.window.visibleTextEditors, ...others])) {
      const uri = editor.document.uri.toString();
      const steps =
        this.walk?.steps
          .map((step, index) => ({ step, index }))
          .filter(({ step }) => vscode.Uri.parse(step.uri).toString() === uri) ?? [];
      const here = steps.filter(({ index }) => index === this.walk?.index);
      editor.setDecorations(
        this.current,
        here.map(({ step, index }) => currentDecoration(step, index, this.walk?.steps.length ?? 0)),
      );
      editor.setDecorations(
        this.others,
        steps.filter(({ index }) => index !== this.walk?.index).map(({ step }) => editorRange(step.range)),
      );
    }
  }
}

function currentDecoration(step: TraceStep, index: number, count: number): vscode.DecorationOptions {
  const values = valuesText(step);
  return {
    range: editorRange(step.range),
    renderOptions: {
      after: {
        contentText: `  ${index + 1}/${count} ${step.text}${values === '' ? '' : ` [${values}]`}`,
        color: new vscode.ThemeColor('editorCodeLens.foreground'),
        fontStyle: 'italic',
        margin: '0 0 0 2em',
      },
    },
  };
}
