// The parts of the extension, put together. Everything that a person sees derives from one state model (model/state.ts), which holds
// what the server says.

import * as vscode from 'vscode';
import { registerCommands } from './commands';
import { ServerConnection } from './connection';
import { StateModel } from './model/state';
import type { Setup } from './setup';
import { DerivationPanel } from './views/derivationPanel';
import { FindingsTree } from './views/findingsTree';
import { Gutter } from './views/gutter';
import { StatusBar } from './views/statusBar';
import { TestingView } from './views/testing';
import { TraceView } from './views/trace';
import { Commands } from './protocol';

/** What other extensions and the tests can ask. */
export interface Api {
  readonly model: StateModel;
  /** Resolved when the server answers, or is not there. */
  readonly started: Promise<void>;
}

/** Puts all together, and does not wait for the server. */
export function assemble(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  setup: Setup,
): { api: Api; server: ServerConnection } {
  const model = new StateModel();
  const server = new ServerConnection(model, log, () => setup.locate());
  const trace = new TraceView(model, (command, args) => server.execute(command, args));
  const testing = new TestingView(model, async (token) => {
    await server.execute(Commands.fullCheck, [], token);
  });
  const derivation = new DerivationPanel(
    model,
    trace,
    (command, args) => server.execute(command, args),
    context.extensionUri,
  );
  context.subscriptions.push(
    log,
    server,
    trace,
    testing,
    derivation,
    new Gutter(model, context.extensionUri),
    new StatusBar(model),
    new FindingsTree(model, trace),
    registerCommands(server, model, trace, derivation, context, log),
  );
  const started = server.start();
  started.catch((error: unknown) => {
    log.error(String(error));
  });
  return { api: { model, started }, server };
}
