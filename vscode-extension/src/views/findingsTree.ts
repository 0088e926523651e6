// All findings of the workspace by file, each with the steps of its trace.

import * as vscode from 'vscode';
import type { Finding, RelatedPlace, StateModel } from '../model/state';
import type { UnplacedFinding } from '../protocol';
import type { TraceView } from './trace';
import { editorRange } from './ranges';

type Node =
  | { readonly kind: 'file'; readonly uri: string }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'unplaced'; readonly uri: string; readonly finding: UnplacedFinding }
  | { readonly kind: 'step'; readonly finding: Finding; readonly place: RelatedPlace; readonly index: number };

export class FindingsTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<Node>;
  private readonly subscriptions: vscode.Disposable[];

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly model: StateModel,
    private readonly trace: TraceView,
  ) {
    this.view = vscode.window.createTreeView('everproof.findings', { treeDataProvider: this, showCollapseAll: true });
    const refresh = () => {
      this.refresh();
    };
    const follow = () => {
      this.refresh();
      this.revealStep();
    };
    this.subscriptions = [
      this.view,
      this.changed,
      vscode.Disposable.from(model.onChange(refresh)),
      trace.onDidMove(follow),
      this.view.onDidChangeVisibility(follow),
    ];
    this.refresh();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  getChildren(node?: Node): Node[] {
    switch (node?.kind) {
      case undefined:
        return this.model.filesWithFindings().map((uri) => ({ kind: 'file', uri }));
      case 'file':
        return [
          ...this.model.findings(node.uri).map((finding): Node => ({ kind: 'finding', finding })),
          ...this.model.unplaced(node.uri).map((finding): Node => ({ kind: 'unplaced', uri: node.uri, finding })),
        ];
      case 'finding':
        return node.finding.related.map((place, index) => ({ kind: 'step', finding: node.finding, place, index }));
      case 'step':
      case 'unplaced':
        return [];
    }
  }

  getParent(node: Node): Node | undefined {
    switch (node.kind) {
      case 'file':
        return undefined;
      case 'finding':
        return { kind: 'file', uri: node.finding.uri };
      case 'unplaced':
        return { kind: 'file', uri: node.uri };
      case 'step':
        return { kind: 'finding', finding: node.finding };
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case 'file':
        return fileItem(node.uri);
      case 'finding':
        return findingItem(node.finding);
      case 'unplaced':
        return unplacedItem(node.uri, node.finding);
      case 'step':
        return this.stepItem(node.finding, node.place, node.index);
    }
  }

  private refresh(): void {
    const count = this.model
      .filesWithFindings()
      .reduce((sum, uri) => sum + this.model.findings(uri).length + this.model.unplaced(uri).length, 0);
    this.view.badge =
      count === 0 ? undefined : { value: count, tooltip: `${count} ${count === 1 ? 'finding' : 'findings'}` };
    this.changed.fire(undefined);
  }

  /** Shows where the walk is; a view that is closed is not opened for it. */
  private revealStep(): void {
    const { walking } = this.trace;
    const finding = walking === undefined ? undefined : this.model.finding(walking.fingerprint);
    const place = finding?.related[walking?.index ?? 0];
    if (this.view.visible && walking !== undefined && finding !== undefined && place !== undefined) {
      // the tree may be made anew meanwhile, and then has no such node
      this.view
        .reveal({ kind: 'step', finding, place, index: walking.index }, { select: true, focus: false })
        .then(undefined, () => undefined);
    }
  }

  private stepItem(finding: Finding, place: RelatedPlace, index: number): vscode.TreeItem {
    const { walking } = this.trace;
    const item = new vscode.TreeItem(`${index + 1}. ${place.text}`, vscode.TreeItemCollapsibleState.None);
    item.id = `${finding.uri} ${finding.fingerprint} ${index}`;
    item.description = `${basename(place.uri)}:${place.range.start.line + 1}`;
    item.iconPath = new vscode.ThemeIcon(
      walking?.fingerprint === finding.fingerprint && walking.index === index ? 'debug-stackframe' : 'circle-small',
    );
    item.command = {
      title: 'Go to Step',
      command: 'everproof.goToStep',
      arguments: [finding.uri, finding.fingerprint, index],
    };
    return item;
  }
}

function fileItem(uri: string): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.Uri.parse(uri), vscode.TreeItemCollapsibleState.Expanded);
  item.id = uri;
  item.iconPath = vscode.ThemeIcon.File;
  return item;
}

function findingItem(finding: Finding): vscode.TreeItem {
  const item = new vscode.TreeItem(finding.message, vscode.TreeItemCollapsibleState.Collapsed);
  item.id = `${finding.uri} ${finding.fingerprint}`;
  item.description = [finding.rule, `line ${finding.range.start.line + 1}`, ...(finding.stale ? ['stale'] : [])].join(
    ', ',
  );
  item.tooltip = `${finding.message}\n${finding.rule}, ${finding.confirmed ? 'confirmed' : 'possible'}${finding.stale ? ', stale' : ''}`;
  item.iconPath = new vscode.ThemeIcon(
    finding.confirmed ? 'error' : 'warning',
    new vscode.ThemeColor(finding.confirmed ? 'list.errorForeground' : 'list.warningForeground'),
  );
  item.contextValue = 'finding';
  item.command = {
    title: 'Go to Finding',
    command: 'vscode.open',
    arguments: [vscode.Uri.parse(finding.uri), { selection: editorRange(finding.range), preserveFocus: true }],
  };
  return item;
}

/** A finding of which nothing is left in the text: it can be read, but not gone to. */
function unplacedItem(uri: string, finding: UnplacedFinding): vscode.TreeItem {
  const item = new vscode.TreeItem(finding.message, vscode.TreeItemCollapsibleState.None);
  item.id = `${uri} ${finding.fingerprint} unplaced`;
  item.description = `${finding.rule}, in ${finding.function}, its text is gone`;
  item.tooltip = `${finding.message}\n${finding.rule}, ${finding.status}. The text it was found in was deleted; the next check says whether it is gone.`;
  item.iconPath = new vscode.ThemeIcon('history');
  return item;
}

function basename(uri: string): string {
  return vscode.Uri.parse(uri).path.split('/').at(-1) ?? uri;
}
