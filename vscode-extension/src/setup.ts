// The questions and messages shown when the server is to be found or set up.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { find, ownServer, readManifest, type Found, type Manifest, type ServerCommand } from './server/discovery';
import { environmentFolder, environmentPython, makeEnvironment } from './server/environment';
import type { Python } from './server/python';

const SET_UP = 'Set Up';
const SETTINGS = 'Open Settings';

/** What the extension carries; its code is one file, in a folder beside that. */
const BUNDLED = path.join(__dirname, '..', 'bundled');

/** The search for a server. */
export interface Looked {
  readonly manifest: Manifest | undefined;
  readonly found: Promise<Found>;
}

/** Begins to look for the server. What is found may run already. */
export function look(): Looked {
  const manifest = readManifest(BUNDLED);
  return { manifest, found: search(manifest) };
}

function search(manifest: Manifest | undefined): Promise<Found> {
  const settings = vscode.workspace.getConfiguration('everproof.server');
  return find({
    command: settings.get<string[]>('command') ?? [],
    python: settings.get<string>('python') ?? '',
    searchPath: process.env['PATH'] ?? '',
    folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
    bundled: BUNDLED,
    manifest,
  });
}

export class Setup {
  private readonly manifest: Manifest | undefined;
  private readonly environment: string;
  private offering = false;
  private ahead: Promise<Found> | undefined;

  /** `looked` is what comes of the first search. `restart` is called when the server was set up. */
  constructor(
    context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    looked: Looked,
    private readonly restart: () => Promise<void>,
  ) {
    this.manifest = looked.manifest;
    this.ahead = looked.found;
    this.environment = environmentFolder(context.globalStorageUri.fsPath, this.manifest?.version ?? 'none');
  }

  /** The server; undefined if there is none. Then a message says why, or asks whether to set it up; this function does not wait for it. */
  async locate(): Promise<ServerCommand | undefined> {
    const searched = this.ahead ?? search(this.manifest);
    this.ahead = undefined;
    const { server: found, python } = await searched;
    const server = found ?? ownServer(environmentPython(this.environment));
    if (server !== undefined) {
      return server;
    }
    if (python === undefined) {
      this.explain('Everproof needs Python 3.11 or newer, and none was found on PATH. Name one in the settings.');
    } else if (this.manifest === undefined) {
      this.explain(
        'This copy of the extension does not carry the server. Name the command that starts it in the settings.',
      );
    } else if (!this.offering) {
      this.offering = true;
      void this.offer(python, this.manifest).finally(() => {
        this.offering = false;
      });
    }
    return undefined;
  }

  private async offer(python: Python, manifest: Manifest): Promise<void> {
    const question = 'Everproof’s server is not set up. Make a Python environment for it?';
    const detail = `It is made with ${python.executable} in the extension’s own storage; what is installed there comes from your package index, with fixed versions and hashes.`;
    const answer = await vscode.window.showInformationMessage(`${question} ${detail}`, SET_UP, SETTINGS);
    if (answer === SETTINGS) {
      await openSettings();
    } else if (answer === SET_UP && (await this.setUp(python, manifest))) {
      await this.restart();
    }
  }

  /** Makes the environment; whether it is there now. */
  private async setUp(python: Python, manifest: Manifest): Promise<boolean> {
    await vscode.workspace.fs.createDirectory(vscode.Uri.file(path.dirname(this.environment)));
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: 'Everproof: setting up the server',
      cancellable: true,
    };
    try {
      await vscode.window.withProgress(options, (progress, token) => {
        const controller = new AbortController();
        token.onCancellationRequested(() => {
          controller.abort();
        });
        return makeEnvironment({
          python: python.executable,
          folder: this.environment,
          bundled: BUNDLED,
          manifest,
          signal: controller.signal,
          log: (line) => {
            this.log.info(line);
          },
          progress: (message) => {
            progress.report({ message });
          },
        });
      });
    } catch (error) {
      this.explain(`Everproof’s server could not be set up: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
    return true;
  }

  /** Says what is missing, and does not wait for an answer. */
  private explain(sentence: string): void {
    this.log.error(sentence);
    void vscode.window.showErrorMessage(sentence, SETTINGS, 'Show Log').then((answer) => {
      if (answer === SETTINGS) {
        void openSettings();
      } else if (answer !== undefined) {
        this.log.show();
      }
    });
  }
}

async function openSettings(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', 'everproof.server');
}
