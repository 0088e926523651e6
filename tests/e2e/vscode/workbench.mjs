// A real VS Code for a test: its server with the packaged extension installed, and Chromium with the folder open.
//
// The server is the one in the npm package code-server (install.sh), run without code-server itself. Everything lives in a home of its
// own that goes away with it, and the page reaches nothing but that server.

import { execFile, spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

const HERE = dirname(fileURLToPath(import.meta.url));
export const PROJECT = join(HERE, '..', '..', '..');
export const ARTIFACTS = join(HERE, '..', 'artifacts', 'vscode');
const SERVER = join(HERE, '..', '.cache', 'vscode');
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const START_MS = 180_000;
const PATIENCE_MS = 180_000; // only a test that fails waits this long

const QUIET = {
  'telemetry.telemetryLevel': 'off', 'update.mode': 'none', 'extensions.autoUpdate': false, 'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true, 'workbench.startupEditor': 'none', 'workbench.tips.enabled': false,
  'workbench.enableExperiments': false, 'security.workspace.trust.enabled': false, 'git.enabled': false,
  'git.openRepositoryInParentFolders': 'never', 'chat.disableAIFeatures': true, 'chat.commandCenter.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden', 'files.autoSave': 'off', 'npm.autoDetect': 'off',
  'typescript.disableAutomaticTypeAcquisition': true, 'editor.minimap.enabled': false, 'editor.fontSize': 13,
  // what is typed is what is in the text
  'editor.autoClosingBrackets': 'never', 'editor.autoIndent': 'none', 'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' }, 'editor.wordBasedSuggestions': 'off',
  'editor.suggestOnTriggerCharacters': false, 'editor.acceptSuggestionOnEnter': 'off', 'editor.insertSpaces': false, 'editor.detectIndentation': false,
};

/** The .vsix of this platform that `make extension` makes, or the general one. */
export function packaged(general = false) {
  const folder = join(PROJECT, 'vscode-extension');
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const wanted = general ? `everproof-${version}.vsix` : `everproof-${process.platform}-${process.arch}-${version}.vsix`;
  const name = readdirSync(folder).find((file) => file === wanted);
  if (name === undefined) {
    throw new Error(`There is no ${wanted}: run \`make extension\`.`);
  }
  return join(folder, name);
}

/**
 * Starts VS Code with a folder. `payload(remote)` are what VS Code's page takes as its payload; `remote` makes a path one that it can
 * open. `hooks` are functions that the page can call. `record`: keep what editor and language server say to each other. `wait`: until
 * the workbench is there. The times `opened`, when the page was asked for, and `ready` are milliseconds. `smoke`: VS Code answers modal dialogs itself. `width` is that of the window, in pixels. `environment` is added to that of all processes.
 */
export async function start({ name, folder, settings = {}, payload = () => [], hooks = {}, record = false, wait = true, smoke = true, width = 1200, environment = {}, vsix = packaged() }) {
  const out = join(ARTIFACTS, name);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), 'everproof-e2e-'));
  const session = join(out, 'session.jsonl');
  const recorder = { 'everproof.server.python': join(HERE, '..', 'recording_python.py') };
  const server = await startServer(home, out, { ...QUIET, ...(record ? recorder : {}), ...settings }, { EVERPROOF_SESSION_LOG: session, ...environment }, smoke, vsix);
  const browser = await chromium.launch({
    executablePath: BROWSERS.find((path) => existsSync(path)), headless: true, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  const context = await browser.newContext({ viewport: { width, height: 780 }, locale: 'en-US' });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.route((url) => url.hostname !== '127.0.0.1' && !['data:', 'blob:'].includes(url.protocol), (route) => route.abort());
  const page = await context.newPage();
  const spoken = [];
  page.on('console', (message) => spoken.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => spoken.push(`error: ${error}`));
  for (const [hook, handler] of Object.entries(hooks)) {
    await page.exposeFunction(hook, handler);
  }
  const remote = (path) => `vscode-remote://127.0.0.1:${server.port}${path}`;
  const query = new URLSearchParams({ folder, payload: JSON.stringify([['skipWelcome', 'true'], ...payload(remote)]) });
  const opened = performance.now();
  let ready;
  try {
    await page.goto(`http://127.0.0.1:${server.port}/?${query}`, { waitUntil: 'domcontentloaded' });
    if (wait) {
      await page.waitForSelector('.monaco-workbench .statusbar', { timeout: START_MS });
    }
    ready = performance.now();
  } catch (error) {
    await browser.close();
    await server.stop(); // else this process would wait for it
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
    throw error;
  }
  return {
    page, out, session, opened, ready,
    picture: (title) => page.screenshot({ path: join(out, `${title}.png`) }),
    async stop() {
      await page.screenshot({ path: join(out, 'last.png') }).catch(() => undefined);
      await browser.close();
      await server.stop();
      writeFileSync(join(out, 'browser.log'), spoken.join('\n'));
      rmSync(home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function startServer(home, out, settings, environment, smoke, vsix) {
  const data = join(home, 'data');
  mkdirSync(join(data, 'data', 'Machine'), { recursive: true });
  mkdirSync(join(data, 'data', 'User'), { recursive: true });
  // programs are settings of the machine, which a folder cannot change; in a remote window the machine is the remote one
  const machine = Object.fromEntries(Object.entries(settings).filter(([key]) => key.startsWith('everproof.')));
  writeFileSync(join(data, 'data', 'Machine', 'settings.json'), JSON.stringify(machine, null, 1));
  writeFileSync(join(data, 'data', 'User', 'settings.json'), JSON.stringify(settings, null, 1));
  const env = { ...process.env, ...environment, HOME: home, XDG_CONFIG_HOME: join(home, 'config'), XDG_CACHE_HOME: join(home, 'cache'), XDG_DATA_HOME: join(home, 'share'), XDG_RUNTIME_DIR: home, TMPDIR: home };
  for (const name of ['VSCODE_IPC_HOOK_CLI', 'NODE_OPTIONS', 'PYTHONPATH', 'EVERPROOF_STORE']) {
    delete env[name];
  }
  const main = join(SERVER, 'out', 'server-main.js');
  const folders = ['--accept-server-license-terms', '--telemetry-level', 'off', '--force-disable-user-env', '--server-data-dir', data, '--extensions-dir', join(home, 'extensions')];
  await install(main, [...folders, '--install-extension', vsix], env);
  const args = ['--host', '127.0.0.1', '--port', '0', '--without-connection-token', ...folders];
  // with this switch VS Code runs tests in its extension host where it must, and answers modal dialogs itself
  const child = spawn(process.execPath, [main, ...args, ...(smoke ? ['--enable-smoke-test-driver'] : [])], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(join(out, 'server.log'));
  let text = '';
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const port = await new Promise((resolve, reject) => {
    const read = (data) => {
      log.write(data);
      text += data;
      const match = /Extension host agent listening on (\d+)/.exec(text);
      if (match) {
        resolve(Number(match[1]));
      }
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => reject(new Error(`VS Code's server ended with exit code ${code}\n${text}`)));
    setTimeout(() => reject(new Error(`VS Code's server did not start\n${text}`)), START_MS).unref();
  });
  return { port, stop: () => stopServer(child, ended, data, out) };
}

/** Installs the extension, to its end: a server that is told to do it as it starts serves windows meanwhile, which do not have it yet. */
async function install(main, args, env) {
  try {
    await promisify(execFile)(process.execPath, [main, ...args], { env, timeout: START_MS, maxBuffer: 1 << 26 });
  } catch (error) {
    throw new Error(`The extension could not be installed: ${error.message}\n${error.stdout}\n${error.stderr}`);
  }
}

/** Ends the server and all that it started, which is one process group, and keeps its logs. */
async function stopServer(child, ended, data, out) {
  const signal = (name) => {
    try {
      process.kill(-child.pid, name);
    } catch {
      // it is gone
    }
  };
  signal('SIGTERM');
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000).unref())]);
  signal('SIGKILL');
  const logs = join(data, 'data', 'logs');
  if (existsSync(logs)) {
    const files = readdirSync(logs, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
    const texts = files.map((file) => `=== ${file.slice(logs.length)}\n${readFileSync(file, 'utf8')}`);
    writeFileSync(join(out, 'vscode.log'), texts.join('\n'));
  }
}
