// The entry of the extension. The search for the server begins when this file is loaded, since what it finds takes a while to start:
// VS Code, which calls `activate` only when it has read what the extension keeps, and the rest of the extension get ready meanwhile.

import * as vscode from 'vscode';
import type { Api } from './assembly';
import type { ServerConnection } from './connection';
import { look, Setup } from './setup';

const looked = look();
let server: ServerConnection | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  const log = vscode.window.createOutputChannel('Everproof', { log: true });
  const setup = new Setup(context, log, looked, async () => server?.restart());
  const { assemble } = await import('./assembly');
  const assembled = assemble(context, log, setup);
  server = assembled.server;
  return assembled.api;
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
