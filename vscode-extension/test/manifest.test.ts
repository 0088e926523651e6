import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Appearance } from '../src/model/state';
import { Commands } from '../src/protocol';

interface Package {
  readonly contributes: {
    readonly commands: readonly { command: string; title: string; enablement?: string }[];
    readonly keybindings: readonly { command: string; when?: string }[];
    readonly menus: Readonly<Record<string, readonly { command: string; when?: string }[]>>;
    readonly yamlValidation: readonly { fileMatch: readonly string[]; url: string }[];
    readonly configuration: readonly {
      properties: Readonly<Record<string, { items?: { anyOf?: readonly { enum?: readonly string[] }[] } }>>;
    }[];
    readonly walkthroughs: readonly {
      steps: readonly { description: string; media: { markdown: string }; completionEvents?: readonly string[] }[];
    }[];
  };
}

const { contributes } = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
const known = new Set(contributes.commands.map(({ command }) => command));
const registered = readFileSync('src/commands.ts', 'utf8');

describe('package.json', () => {
  it('contributes only commands that are registered', () => {
    const serverSide = new Map(
      Object.entries(Commands).map(([name, command]) => [command as string, `[Commands.${name}]`]),
    );
    for (const command of known) {
      assert.ok(registered.includes(serverSide.get(command) ?? `'${command}':`), command);
    }
  });

  it('binds keys and menus to commands that there are', () => {
    for (const { command } of [...contributes.keybindings, ...Object.values(contributes.menus).flat()]) {
      assert.ok(known.has(command), command);
    }
  });

  it('has its commands in headers too, which count as C++ by default', () => {
    const conditions = [
      ...contributes.commands.map(({ enablement }) => enablement),
      ...contributes.keybindings.map(({ when }) => when),
      ...(contributes.menus['editor/context'] ?? []).map(({ when }) => when),
    ].filter((condition) => condition?.includes('editorLangId'));
    assert.ok(conditions.length >= 8);
    for (const condition of conditions) {
      assert.ok(condition?.includes('editorLangId == c || resourceExtname == .h'), condition);
    }
  });

  it('has a schema for rule files, and the names of the rules in the settings', () => {
    for (const { url, fileMatch } of contributes.yamlValidation) {
      assert.ok(fileMatch.every((pattern) => pattern.startsWith('.everproof/rules/')));
      const { title } = JSON.parse(readFileSync(url, 'utf8')) as { title: string };
      assert.equal(title, 'Everproof rule');
    }
    const rules = contributes.configuration[0]?.properties['everproof.rules'];
    const names = rules?.items?.anyOf?.[0]?.enum ?? [];
    assert.ok(names.includes('null-dereference') && names.includes('all'), String(names));
  });

  it('has every page and command of the walkthrough', () => {
    for (const { description, media, completionEvents } of contributes.walkthroughs.flatMap(({ steps }) => steps)) {
      assert.ok(existsSync(media.markdown), media.markdown);
      const named = [...description.matchAll(/command:(everproof\.\w+)/g)].map((match) => match[1] ?? '');
      const awaited = (completionEvents ?? [])
        .filter((event) => event.startsWith('onCommand:'))
        .map((event) => event.slice('onCommand:'.length));
      for (const command of [...named, ...awaited]) {
        assert.ok(known.has(command), command);
      }
    }
  });

  it('has a sign for every appearance in both kinds of theme', () => {
    const appearances: Record<Appearance, true> = {
      proved: true,
      confirmed: true,
      possible: true,
      unknown: true,
      checking: true,
      stale: true,
    };
    const shapes = Object.keys(appearances).flatMap((shown) =>
      ['light', 'dark'].map((theme) => readFileSync(`media/gutter/${shown}-${theme}.svg`, 'utf8')),
    );
    const plain = shapes.map((svg) => svg.replaceAll(/#[0-9a-f]{6}/g, '#'));
    assert.equal(new Set(shapes).size, 12);
    assert.equal(new Set(plain).size, 6, 'told apart by shape, not by colour alone');
  });
});
