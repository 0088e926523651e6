// The entry of the extension. Everything that a person sees derives from one state model (model/state.ts), which holds what the
// server says; activation only puts the parts together and does not wait for the server.

import * as vscode from 'vscode';
import { registerCommands } from './commands';
import { ServerConnection } from './connection';
import { StateModel } from './model/state';
import { Setup } from './setup';
import { DerivationPanel } from './views/derivationPanel';
import { FindingsTree } from './views/findingsTree';
import { Gutter } from './views/gutter';
import { StatusBar } from './views/statusBar';
import { TestingView } from './views/testing';
import { TraceView } from './views/trace';
import { Commands } from './protocol';

let connection: ServerConnection | undefined;

/** What other extensions and the tests can ask. */
export interface Api {
  readonly model: StateModel;
  /** Resolved when the server answers, or is not there. */
  readonly started: Promise<void>;
}

export function activate(context: vscode.ExtensionContext): Api {
  const log = vscode.window.createOutputChannel('Everproof', { log: true });
  const model = new StateModel();
  const setup = new Setup(context, log, () => server.restart());
  const server: ServerConnection = new ServerConnection(model, log, () => setup.locate());
  connection = server;
  const trace = new TraceView(model, (command, args) => server.execute(command, args));
  const testing = new TestingView(model, async (token) => {
    await server.execute(Commands.fullCheck, [], token);
  });
  const derivation = new DerivationPanel(model, (command, args) => server.execute(command, args), context.extensionUri);
  context.subscriptions.push(log, server, trace, testing, derivation, new Gutter(model, context.extensionUri), new StatusBar(model), new FindingsTree(model, trace), registerCommands(server, model, trace, derivation, log));
  const started = server.start();
  started.catch((error: unknown) => {
    log.error(String(error));
  });
  return { model, started };
}

export async function deactivate(): Promise<void> {
  await connection?.stop();
}
