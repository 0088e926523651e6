// Makes the .vsix: builds the bundle, puts the Python part into bundled/, and packs. With --platform it is the package for this
// platform, which carries the dependencies of the Python part too; without, the server sets them up itself, asking first.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs';

const platform = process.argv.includes('--platform');
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));

function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error || status !== 0) {
    console.error(`${command} ${args.join(' ')}: ${error ? error.message : `exit status ${status}`}`);
    process.exit(status ?? 1);
  }
}

const own = '../.venv/bin/python';
const python = process.env.PYTHON ?? (existsSync(own) ? own : 'python3');
const target = `${process.platform}-${process.arch}`;
const file = platform ? `${name}-${target}-${version}.vsix` : `${name}-${version}.vsix`;

copyFileSync('../LICENSE', 'LICENSE'); // vsce takes it from the extension's own folder
run(process.execPath, 'scripts/build.mjs');
run(python, 'scripts/bundle.py', ...(platform ? ['--target', target] : []));
// nothing is looked through for secrets: what is carried comes from the sources and from pinned wheels, and it would take minutes
run(
  'npx',
  'vsce',
  'package',
  '--no-dependencies',
  '--skip-license',
  '--allow-missing-repository',
  '--allow-package-all-secrets',
  '--out',
  file,
  ...(platform ? ['--target', target] : []),
);
console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
