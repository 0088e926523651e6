// From diagnostics to the findings of the state model.

import type * as vscode from 'vscode';
import type { Finding } from './model/state';
import type { FindingData } from './protocol';

/** The findings among a document's diagnostics; the others are messages and hints, which have no trace and no fingerprint. */
export function findingsOf(uri: vscode.Uri, diagnostics: readonly vscode.Diagnostic[]): Finding[] {
  return diagnostics.flatMap((diagnostic) => {
    const data = (diagnostic as vscode.Diagnostic & { data?: Partial<FindingData> }).data;
    if (data?.fingerprint === undefined) {
      return [];
    }
    return [
      {
        uri: uri.toString(),
        range: diagnostic.range,
        rule: ruleOf(diagnostic),
        message: diagnostic.message,
        fingerprint: data.fingerprint,
        confirmed: data.status === 'confirmed',
        stale: data.stale === true,
        related: (diagnostic.relatedInformation ?? []).map((place) => ({
          uri: place.location.uri.toString(),
          range: place.location.range,
          text: place.message,
        })),
      },
    ];
  });
}

function ruleOf(diagnostic: vscode.Diagnostic): string {
  const { code } = diagnostic;
  return String(typeof code === 'object' ? code.value : (code ?? ''));
}
