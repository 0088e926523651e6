// The one state that every view shows. It holds what the server said last, and nothing that the extension made up.

import type { DocumentStatus, FunctionStatus, Position, Range, Standing, UnplacedFinding } from '../protocol';

/** What is seen of the server as a whole. */
export type Connection = 'starting' | 'running' | 'stopped' | 'missing';

/** A place that a finding's trace leads through. */
export interface RelatedPlace {
  readonly uri: string;
  readonly range: Range;
  readonly text: string;
}

export interface Finding {
  readonly uri: string;
  readonly range: Range;
  readonly rule: string;
  readonly message: string;
  readonly fingerprint: string;
  readonly confirmed: boolean;
  readonly stale: boolean;
  readonly related: readonly RelatedPlace[];
}

/** How a function is shown, in the gutter and elsewhere. */
export type Appearance = Standing | 'checking' | 'stale';

/** Whether there is a finding in the function that is shown. */
export function isFinding(shown: Appearance): boolean {
  return shown === 'confirmed' || shown === 'possible';
}

/** A verdict that does not hold for the text as it is now is never shown as if it did. */
export function appearance(status: DocumentStatus, known: FunctionStatus): Appearance {
  if (known.stale) {
    return status.state === 'checking' ? 'checking' : 'stale';
  }
  if (known.standing !== 'unknown') {
    return known.standing;
  }
  return (known.rechecked ?? []).length > 0 ? 'checking' : (known.waiting ?? []).length > 0 ? 'stale' : 'unknown';
}

/** What changed: the documents, or everything. */
export interface Change {
  readonly uris: ReadonlySet<string> | 'all';
}

export class StateModel {
  private readonly statuses = new Map<string, DocumentStatus>();
  private readonly found = new Map<string, readonly Finding[]>();
  private readonly listeners = new Set<(change: Change) => void>();
  private connectionState: Connection = 'starting';

  get connection(): Connection {
    return this.connectionState;
  }

  /** Calls `listener` after each change, until the returned object is disposed of. */
  onChange(listener: (change: Change) => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** Takes over a status. One for an older version than the last is ignored: the text has moved on. */
  takeStatus(status: DocumentStatus): void {
    const last = this.statuses.get(status.uri);
    if (last?.version != null && status.version !== null && status.version < last.version) {
      return;
    }
    this.statuses.set(status.uri, status);
    this.changed(status.uri);
  }

  /** Takes over all findings of a document. */
  takeFindings(uri: string, findings: readonly Finding[]): void {
    if (findings.length === 0 && !this.found.has(uri)) {
      return;
    }
    if (findings.length > 0) {
      this.found.set(uri, findings);
    } else {
      this.found.delete(uri);
    }
    this.changed(uri);
  }

  /** A document was closed: nothing is said of its functions any more. Its findings go when the server takes them back. */
  close(uri: string): void {
    if (this.statuses.delete(uri)) {
      this.changed(uri);
    }
  }

  /** The server started or ended. What an ended server said does not hold any more. */
  connectionChanged(state: Connection): void {
    this.connectionState = state;
    if (state !== 'running') {
      this.statuses.clear();
      this.found.clear();
    }
    this.notify({ uris: 'all' });
  }

  status(uri: string): DocumentStatus | undefined {
    return this.statuses.get(uri);
  }

  openDocuments(): readonly DocumentStatus[] {
    return [...this.statuses.values()].sort((a, b) => a.uri.localeCompare(b.uri));
  }

  /** The findings of a document in the order of their places. */
  findings(uri: string): readonly Finding[] {
    return this.found.get(uri) ?? [];
  }

  /** The findings of a document that have no place in its text any more. */
  unplaced(uri: string): readonly UnplacedFinding[] {
    return this.statuses.get(uri)?.unplaced ?? [];
  }

  filesWithFindings(): readonly string[] {
    const unplaced = [...this.statuses.keys()].filter((uri) => this.unplaced(uri).length > 0);
    return [...new Set([...this.found.keys(), ...unplaced])].sort((a, b) => a.localeCompare(b));
  }

  finding(fingerprint: string): Finding | undefined {
    for (const findings of this.found.values()) {
      const finding = findings.find((candidate) => candidate.fingerprint === fingerprint);
      if (finding !== undefined) {
        return finding;
      }
    }
    return undefined;
  }

  /** The function that a position is in: the last one whose name stands at or above it, as far as the server knows. */
  functionAt(uri: string, position: Position): FunctionStatus | undefined {
    const functions = this.statuses.get(uri)?.functions ?? [];
    let nearest: FunctionStatus | undefined;
    for (const candidate of functions) {
      const { line } = candidate.range.start;
      if (line <= position.line && (nearest === undefined || line >= nearest.range.start.line)) {
        nearest = candidate;
      }
    }
    return nearest;
  }

  private changed(uri: string): void {
    this.notify({ uris: new Set([uri]) });
  }

  private notify(change: Change): void {
    for (const listener of [...this.listeners]) {
      listener(change);
    }
  }
}
