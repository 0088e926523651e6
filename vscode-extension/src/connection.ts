// The language client: starts the server, hands what it says to the state model, and runs its commands.

import * as vscode from 'vscode';
import {
  ExecuteCommandRequest,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  type DynamicFeature,
  type LanguageClientOptions,
  type StaticFeature,
} from 'vscode-languageclient/node';
import { findingsOf } from './findings';
import type { StateModel } from './model/state';
import { STATUS, type DocumentStatus } from './protocol';
import type { ServerCommand } from './server/discovery';
import { ServerProcess } from './server/process';

/** The server's commands are registered by the extension, once and before the server runs, not by the client. */
class Client extends LanguageClient {
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    if ('registrationType' in feature && feature.registrationType.method === ExecuteCommandRequest.method) {
      return;
    }
    super.registerFeature(feature);
  }
}

/** Tells the server what the extension does beyond LSP: it asks for the reason of a suppression. */
const asksForReason: StaticFeature = {
  fillClientCapabilities(capabilities) {
    const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
    capabilities.experimental = { ...experimental, everproof: { asksForReason: true } };
  },
  initialize() {
    // nothing to set up
  },
  getState: () => ({ kind: 'static' }),
  clear() {
    // nothing to give up
  },
};

/** Finds the server; undefined when there is none. */
export type Locate = () => Promise<ServerCommand | undefined>;

export class ServerConnection implements vscode.Disposable {
  private client: Client | undefined;
  private process: ServerProcess | undefined;
  private starting: Promise<void> | undefined;
  private startedWith = '';
  private readonly subscriptions: vscode.Disposable[] = [];

  constructor(
    private readonly model: StateModel,
    private readonly log: vscode.LogOutputChannel,
    private readonly locate: Locate,
  ) {
    this.subscriptions.push(
      vscode.workspace.onDidCloseTextDocument((document) => {
        model.close(document.uri.toString());
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        void this.settingsChanged();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        // trust lets settings of the folder in; that alone is no reason to start again
        if (event.affectsConfiguration('everproof.server') && this.startedWith !== serverSettings()) {
          void this.restart();
        } else if (event.affectsConfiguration('everproof')) {
          void this.settingsChanged();
        }
      }),
    );
  }

  /** Starts the server, once; resolved when it answers or is not there. */
  start(): Promise<void> {
    this.starting ??= this.begin();
    return this.starting;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.starting?.catch(() => undefined);
    this.starting = undefined;
    const { client, process } = this;
    this.client = this.process = undefined;
    await client?.dispose();
    process?.end();
    this.model.connectionChanged('stopped');
  }

  /** Runs a command of the server, when it has started. */
  async execute<Result>(command: string, args: readonly unknown[], token?: vscode.CancellationToken): Promise<Result> {
    await this.start();
    if (this.client?.state !== State.Running) {
      throw new Error('The Everproof server is not running.');
    }
    const params = { command, arguments: [...args] };
    return (await this.client.sendRequest(ExecuteCommandRequest.type, params, token)) as Result;
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  private async begin(): Promise<void> {
    this.model.connectionChanged('starting');
    this.startedWith = serverSettings();
    const server = await this.locate();
    if (server === undefined) {
      this.model.connectionChanged('missing');
      return;
    }
    this.log.info(`Starting ${[server.command, ...server.args].join(' ')}: ${server.found}`);
    const process = new ServerProcess(server, vscode.workspace.workspaceFolders?.[0]?.uri.fsPath);
    this.process = process;
    const client = new Client('everproof', 'Everproof', () => process.start(), this.options());
    this.client = client;
    client.registerFeature(asksForReason);
    client.onDidChangeState(({ newState }) => {
      if (this.client === client && newState !== State.Starting) {
        this.model.connectionChanged(newState === State.Running ? 'running' : 'stopped');
      }
    });
    client.onNotification(STATUS, (status: DocumentStatus) => {
      this.model.takeStatus({ ...status, uri: client.protocol2CodeConverter.asUri(status.uri).toString() });
    });
    try {
      await client.start();
    } catch (error) {
      this.log.error(`The server could not be started: ${String(error)}`);
      this.model.connectionChanged('stopped');
    }
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: [{ language: 'c' }, { pattern: '**/*.h' }],
      diagnosticCollectionName: 'everproof',
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      // a folder that was opened is checked, whether a file of it is open or not; where one is, that asks for the check
      initializationOptions: {
        ...settings(),
        checkFolders: !vscode.workspace.textDocuments.some(({ languageId }) => languageId === 'c'),
      },
      markdown: { isTrusted: false },
      middleware: {
        handleDiagnostics: (uri, diagnostics, next) => {
          next(uri, diagnostics);
          this.model.takeFindings(uri.toString(), findingsOf(uri, diagnostics));
        },
        window: {
          // the page of a rule is read, not edited
          showDocument: async (params, token, next) => {
            if (!isRulePage(params.uri)) {
              return next(params, token);
            }
            await vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.parse(params.uri));
            return { success: true };
          },
        },
        workspace: {
          configuration: async (params, token, next) => {
            const answers = await next(params, token);
            return Array.isArray(answers)
              ? answers.map((answer, index) =>
                  params.items[index]?.section === 'everproof' ? settings() : (answer as unknown),
                )
              : answers;
          },
        },
      },
    };
  }

  private async settingsChanged(): Promise<void> {
    if (this.client?.state === State.Running) {
      await this.client.sendNotification('workspace/didChangeConfiguration', { settings: { everproof: settings() } });
    }
  }
}

/** Whether a document is the page of a rule that the server carries. */
function isRulePage(uri: string): boolean {
  return /\/rules\/pages\/[\w-]+\.md$/.test(uri);
}

/** The settings as the server reads them. Whether the workspace is trusted is none that a person sets. */
function settings(): object {
  const values = vscode.workspace.getConfiguration().get<object>('everproof') ?? {};
  return { ...values, trusted: vscode.workspace.isTrusted };
}

/** The settings that say how the server is started, to compare. */
function serverSettings(): string {
  return JSON.stringify(vscode.workspace.getConfiguration('everproof').get('server'));
}
