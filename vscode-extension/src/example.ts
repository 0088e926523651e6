// The example of the walkthrough: a copy in the extension's own storage, so that no folder of the person's is written to.

import * as vscode from 'vscode';

const NAME = 'stock.c';

/** Opens the example as the person left it. */
export async function openExample(context: vscode.ExtensionContext): Promise<void> {
  const folder = vscode.Uri.joinPath(context.globalStorageUri, 'example');
  const copy = vscode.Uri.joinPath(folder, NAME);
  const isThere = await vscode.workspace.fs.stat(copy).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    await vscode.workspace.fs.createDirectory(folder);
    await vscode.workspace.fs.copy(vscode.Uri.joinPath(context.extensionUri, 'media', 'example', NAME), copy);
  }
  await vscode.window.showTextDocument(copy);
}
