// The entry of the extension. The search for the server comes first, since what it finds takes a while to start: all the rest is loaded
// meanwhile.

import * as vscode from 'vscode';
import type { Api } from './assembly';
import type { ServerConnection } from './connection';
import { Setup } from './setup';

let server: ServerConnection | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  const log = vscode.window.createOutputChannel('Everproof', { log: true });
  const setup = new Setup(context, log, async () => server?.restart());
  const { assemble } = await import('./assembly');
  const assembled = assemble(context, log, setup);
  server = assembled.server;
  return assembled.api;
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
