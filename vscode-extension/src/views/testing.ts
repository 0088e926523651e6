// The Testing view: functions with their verdicts. A run of all is a full check. A run of some functions, or of the functions of a file,
// waits until these are checked as they are now, and reports them alone: a check from scratch would say the same. Only if they are not
// checked by themselves (mode `onDemand`), it is a full check, too.
//
// confirmed and possible = failed, proved = passed, and unknown = skipped: it is neither. A verdict that does not hold for the text as it is now
// is not reported: the function keeps its last result, and says that it is stale. Functions have no range here, and messages no place:
// the editor would show both once more, in the place of the gutter's signs and beside the squiggles.

import * as vscode from 'vscode';
import { appearance, isFinding, type Appearance, type StateModel } from '../model/state';
import { standingCounts, verdictText } from '../model/words';
import type { DocumentStatus, FunctionStatus } from '../protocol';

type FullCheck = (token: vscode.CancellationToken) => Promise<void>;

export class TestingView implements vscode.Disposable {
  private controller: vscode.TestController | undefined;
  private readonly reported = new Map<string, string>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly model: StateModel,
    private readonly fullCheck: FullCheck,
  ) {
    this.subscriptions = [
      vscode.Disposable.from(
        model.onChange(() => {
          this.show();
        }),
      ),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('everproof.testing')) {
          this.show();
        }
      }),
    ];
  }

  dispose(): void {
    this.controller?.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private show(): void {
    if (!vscode.workspace.getConfiguration('everproof').get<boolean>('testing', true)) {
      this.controller?.dispose();
      this.controller = undefined;
      this.reported.clear();
      return;
    }
    const controller = (this.controller ??= this.create());
    const documents = this.model.openDocuments().filter((status) => status.functions.length > 0);
    controller.items.replace(documents.map((status) => this.fileItem(controller, status)));
    this.tellVerdicts(controller, documents);
  }

  private create(): vscode.TestController {
    const controller = vscode.tests.createTestController('everproof', 'Everproof');
    controller.createRunProfile(
      'Check',
      vscode.TestRunProfileKind.Run,
      (request, token) => this.run(controller, request, token),
      true,
    );
    return controller;
  }

  private async run(
    controller: vscode.TestController,
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
  ): Promise<void> {
    if (request.include === undefined) {
      this.reported.clear();
      await this.fullCheck(token);
      this.show();
      return;
    }
    const asked = functionsOf(request);
    const run = controller.createTestRun(request, undefined, false);
    try {
      asked.forEach((item) => {
        run.started(item);
      });
      await this.checked(asked, token);
      if (asked.some((item) => this.known(item)?.known.stale ?? true)) {
        await this.fullCheck(token);
      }
      for (const item of asked) {
        const one = this.known(item);
        run.appendOutput(
          `${one === undefined ? `${item.label}: not checked` : verdictText(one.status, one.known)}\r\n`,
        );
        if (one === undefined || !isVerdict(appearance(one.status, one.known))) {
          run.skipped(item);
        } else {
          this.reported.set(item.id, verdictText(one.status, one.known));
          this.report(run, item, one.status, one.known, appearance(one.status, one.known));
        }
      }
    } finally {
      run.end();
    }
  }

  /** Waits until the files of functions are checked as they are now. */
  private async checked(asked: readonly vscode.TestItem[], token: vscode.CancellationToken): Promise<void> {
    const uris = new Set(asked.map((item) => item.parent?.id ?? item.id));
    const isDone = () => [...uris].every((uri) => this.model.status(uri)?.state !== 'checking');
    await new Promise<void>((resolve) => {
      const subscriptions: { dispose(): unknown }[] = [];
      const look = () => {
        if (isDone() || token.isCancellationRequested) {
          subscriptions.forEach((one) => one.dispose());
          resolve();
        }
      };
      subscriptions.push(this.model.onChange(look), token.onCancellationRequested(look));
      look();
    });
  }

  /** What is known of a function that is listed. */
  private known(item: vscode.TestItem): { status: DocumentStatus; known: FunctionStatus } | undefined {
    const status = this.model.status(item.parent?.id ?? '');
    const known = status?.functions.find((one) => idOf(status, one) === item.id);
    return status === undefined || known === undefined ? undefined : { status, known };
  }

  private fileItem(controller: vscode.TestController, status: DocumentStatus): vscode.TestItem {
    const uri = vscode.Uri.parse(status.uri);
    const item =
      controller.items.get(status.uri) ??
      controller.createTestItem(status.uri, uri.path.split('/').at(-1) ?? status.uri, uri);
    item.description = standingCounts(status.functions);
    item.children.replace(
      status.functions.map((known) => {
        const child =
          item.children.get(idOf(status, known)) ?? controller.createTestItem(idOf(status, known), known.name, uri);
        child.description = known.stale ? 'stale' : known.standing === 'unknown' ? '' : known.standing;
        return child;
      }),
    );
    return item;
  }

  /** One run for all verdicts that became another: results are kept by the run that reported them. */
  private tellVerdicts(controller: vscode.TestController, documents: readonly DocumentStatus[]): void {
    const news = documents
      .flatMap((status) => status.functions.map((known) => ({ status, known, shown: appearance(status, known) })))
      .filter(
        ({ status, known, shown }) =>
          isVerdict(shown) && this.reported.get(idOf(status, known)) !== verdictText(status, known),
      );
    if (news.length === 0) {
      return;
    }
    const run = controller.createTestRun(new vscode.TestRunRequest(), 'Verdicts', false);
    for (const { status, known, shown } of news) {
      const item = controller.items.get(status.uri)?.children.get(idOf(status, known));
      if (item !== undefined) {
        this.reported.set(idOf(status, known), verdictText(status, known));
        this.report(run, item, status, known, shown);
      }
    }
    run.end();
  }

  private report(
    run: vscode.TestRun,
    item: vscode.TestItem,
    status: DocumentStatus,
    known: FunctionStatus,
    shown: Appearance,
  ): void {
    if (shown === 'proved') {
      run.passed(item);
    } else if (isFinding(shown)) {
      const findings = this.model
        .findings(status.uri)
        .filter((finding) => this.model.functionAt(status.uri, finding.range.start)?.name === known.name);
      const messages = findings.map(
        (finding) =>
          new vscode.TestMessage(`line ${finding.range.start.line + 1}: ${finding.message} (${finding.rule})`),
      );
      run.failed(item, messages.length > 0 ? messages : [new vscode.TestMessage(verdictText(status, known))]);
    } else {
      run.skipped(item);
    }
  }
}

/** The functions that a run is asked for, each once, without those that are excluded. */
function functionsOf(request: vscode.TestRunRequest): vscode.TestItem[] {
  const found = new Map<string, vscode.TestItem>();
  for (const item of request.include ?? []) {
    const functions = item.parent === undefined ? [...item.children].map(([, child]) => child) : [item];
    for (const one of functions) {
      found.set(one.id, one);
    }
  }
  const excluded = new Set((request.exclude ?? []).map(({ id }) => id));
  return [...found.values()].filter(({ id, parent }) => !excluded.has(id) && !excluded.has(parent?.id ?? ''));
}

function isVerdict(shown: Appearance): boolean {
  return shown === 'proved' || isFinding(shown) || shown === 'unknown';
}

function idOf(status: DocumentStatus, known: FunctionStatus): string {
  return `${status.uri}#${known.name}`;
}
