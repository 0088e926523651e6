// Bundles the extension into out/extension.js; with --tests, the tests of the parts that need no editor into out/test/.
import { readdirSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const tests = process.argv.includes('--tests');
const common = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  logLevel: 'warning',
  sourcemap: tests ? 'inline' : false,
};

if (tests) {
  rmSync('out/test', { recursive: true, force: true });
  const files = readdirSync('test').filter((name) => name.endsWith('.test.ts'));
  await build({ ...common, entryPoints: files.map((name) => `test/${name}`), outdir: 'out/test' });
} else {
  await build({
    ...common,
    entryPoints: ['src/extension.ts'],
    outfile: 'out/extension.js',
    external: ['vscode'],
    minify: true,
  });
}
