// What a person is asked and told when the server is to be found or set up.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { find, readManifest, type Manifest, type ServerCommand } from './server/discovery';
import { environmentFolder, environmentPython, makeEnvironment } from './server/environment';
import type { Python } from './server/python';

const SET_UP = 'Set Up';
const SETTINGS = 'Open Settings';

export class Setup {
  private readonly bundled: string;
  private readonly manifest: Manifest | undefined;
  private readonly environment: string;

  constructor(
    context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.bundled = path.join(context.extensionPath, 'bundled');
    this.manifest = readManifest(this.bundled);
    this.environment = environmentFolder(context.globalStorageUri.fsPath, this.manifest?.version ?? 'none');
  }

  /** The server. If it cannot be found, the user is asked whether to set it up; undefined if that is declined or fails. */
  async locate(): Promise<ServerCommand | undefined> {
    const { server, python } = await this.search();
    if (server !== undefined) {
      return server;
    }
    if (python === undefined) {
      await this.explain('Everproof needs Python 3.11 or newer, and none was found on PATH. Name one in the settings.');
      return undefined;
    }
    if (this.manifest === undefined) {
      await this.explain('This copy of the extension does not carry the server. Name the command that starts it in the settings.');
      return undefined;
    }
    return (await this.consent(python)) ? this.setUp(python, this.manifest) : undefined;
  }

  private search() {
    const settings = vscode.workspace.getConfiguration('everproof.server');
    return find({
      command: settings.get<string[]>('command') ?? [],
      python: settings.get<string>('python') ?? '',
      searchPath: process.env['PATH'] ?? '',
      folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
      bundled: this.bundled,
      manifest: this.manifest,
      ownPython: environmentPython(this.environment),
    });
  }

  private async consent(python: Python): Promise<boolean> {
    const question = 'Everproof’s server is not set up. Make a Python environment for it?';
    const detail = `It is made with ${python.command} in the extension’s own storage; what is installed there comes from your package index, with fixed versions and hashes.`;
    const answer = await vscode.window.showInformationMessage(`${question} ${detail}`, SET_UP, SETTINGS);
    if (answer === SETTINGS) {
      await openSettings();
    }
    return answer === SET_UP;
  }

  private async setUp(python: Python, manifest: Manifest): Promise<ServerCommand | undefined> {
    await vscode.workspace.fs.createDirectory(vscode.Uri.file(path.dirname(this.environment)));
    const options = { location: vscode.ProgressLocation.Notification, title: 'Everproof: setting up the server', cancellable: true };
    try {
      await vscode.window.withProgress(options, (progress, token) => {
        const controller = new AbortController();
        token.onCancellationRequested(() => {
          controller.abort();
        });
        return makeEnvironment({
          python: python.command,
          folder: this.environment,
          bundled: this.bundled,
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
      await this.explain(`Everproof’s server could not be set up: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
    return (await this.search()).server;
  }

  private async explain(sentence: string): Promise<void> {
    this.log.error(sentence);
    const answer = await vscode.window.showErrorMessage(sentence, SETTINGS, 'Show Log');
    if (answer === SETTINGS) {
      await openSettings();
    } else if (answer !== undefined) {
      this.log.show();
    }
  }
}

async function openSettings(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', 'everproof.server');
}
