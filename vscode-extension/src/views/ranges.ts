// The server's positions as the editor's.

import * as vscode from 'vscode';
import type { Range } from '../protocol';

export function editorRange(range: Range): vscode.Range {
  return new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
}
