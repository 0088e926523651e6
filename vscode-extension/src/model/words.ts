// What is said of the state, in words: the same in the status bar, the gutter and the Testing view.

import type { DocumentStatus, FunctionStatus } from '../protocol';
import { appearance, isFinding, type Appearance, type Connection } from './state';

export const SIGNS: Readonly<Record<Appearance, string>> = {
  proved: '$(pass)',
  confirmed: '$(error)',
  possible: '$(warning)',
  unknown: '$(question)',
  checking: '$(sync~spin)',
  stale: '$(history)',
};

/** A verdict in a few words; of one that does not hold for the text as it is now, what it was. */
export function verdictText(status: DocumentStatus, known: FunctionStatus): string {
  const shown = appearance(status, known);
  if (shown === 'checking' && !known.stale) {
    return `${known.name}: proved, being re-checked`;
  }
  if (shown === 'stale' && !known.stale) {
    return `${known.name}: proved, re-checked once all of the program parses`;
  }
  const doubt = shown === 'checking' ? 'checking, was ' : shown === 'stale' ? 'stale, was ' : '';
  const because =
    known.reason === null ? '' : isFinding(known.standing) && !known.stale ? `: ${known.reason}` : ` (${known.reason})`;
  return `${known.name}: ${doubt}${known.standing}${because}`;
}

export interface StatusText {
  readonly text: string;
  readonly details: readonly string[];
  readonly warning: boolean;
}

const CONNECTIONS: Readonly<Record<Exclude<Connection, 'running'>, StatusText>> = {
  starting: { text: '$(sync~spin) Everproof', details: ['The server is being started.'], warning: false },
  stopped: {
    text: '$(debug-disconnect) Everproof',
    details: ['The server has stopped. Click to see the log.'],
    warning: true,
  },
  missing: { text: '$(warning) Everproof', details: ['The server is not set up. Click to do it.'], warning: true },
};

/** What the status bar says: the state, the function under the cursor, what is new, and what the last check took. */
export function statusText(
  connection: Connection,
  status: DocumentStatus | undefined,
  known: FunctionStatus | undefined,
): StatusText {
  if (connection !== 'running') {
    return CONNECTIONS[connection];
  }
  if (status === undefined) {
    return { text: 'Everproof', details: ['No verdicts of this file.'], warning: false };
  }
  const sign =
    status.state === 'failed'
      ? '$(warning)'
      : status.state === 'checking'
        ? '$(sync~spin)'
        : known === undefined || appearance(status, known) === 'unknown'
          ? ''
          : SIGNS[appearance(status, known)];
  const verdict = known === undefined ? '' : shortVerdict(status, known);
  const name = known === undefined ? 'Everproof' : verdict === '' ? known.name : `${known.name}: ${verdict}`;
  const total = status.times?.['total'];
  const time = status.state === 'idle' && total !== undefined ? [milliseconds(total)] : [];
  const fresh = status.reference != null && status.reference.new > 0 ? [`${status.reference.new} new`] : [];
  return {
    text: `${sign} ${[name, ...fresh, ...time].join(' · ')}`.trim(),
    details: details(status, known),
    warning: status.state === 'failed',
  };
}

/** Quiet where nothing is known. */
function shortVerdict(status: DocumentStatus, known: FunctionStatus): string {
  const shown = appearance(status, known);
  return shown === 'unknown' ? '' : shown;
}

function details(status: DocumentStatus, known: FunctionStatus | undefined): string[] {
  const states = {
    checking: 'Checking.',
    idle: 'Checked as it is now.',
    failed: `The check is not complete: ${status.message ?? 'the reason is not known'}`,
  };
  const lines = [states[status.state]];
  if (known !== undefined && appearance(status, known) !== 'unknown') {
    lines.push(verdictText(status, known));
  }
  if (status.reference != null) {
    lines.push(`Findings: ${status.reference.text}.`);
  }
  const total = status.times?.['total'];
  if (total !== undefined) {
    const stages = Object.entries(status.times ?? {}).filter(([stage, ms]) => stage !== 'total' && ms >= 0.5);
    lines.push(
      `Last check: ${milliseconds(total)}${stages.length > 0 ? ` (${stages.map(([stage, ms]) => `${stage} ${milliseconds(ms)}`).join(', ')})` : ''}`,
    );
  }
  if (status.memory != null) {
    lines.push(`Memory of the checker and its provers: ${Math.round(status.memory / 1e6)} MB`);
  }
  return lines;
}

/** How many functions have each standing, without those of which nothing is known; empty if that is all of them. */
export function standingCounts(functions: readonly FunctionStatus[]): string {
  return (['confirmed', 'possible', 'proved'] as const)
    .map((standing) => ({ standing, count: functions.filter((known) => known.standing === standing).length }))
    .filter(({ count }) => count > 0)
    .map(({ standing, count }) => `${count} ${standing}`)
    .join(' · ');
}

/** A time for people: milliseconds, or seconds where these are many. */
export function milliseconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
