import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawing, escape } from '../src/model/drawing';
import type { FunctionDerivations } from '../src/protocol';

const range = (line: number) => ({ start: { line, character: 0 }, end: { line, character: 1 } });
const configuration = (location: number, fact: string, more: object = {}) => ({
  location,
  entry: 0,
  fact,
  error: false,
  reported: false,
  uri: 'file:///a.c',
  range: range(location),
  ...more,
});
const derivation = (source: number, target: number, more: object = {}) => ({
  source,
  target,
  effect: `p${source} = 0`,
  by: [],
  again: false,
  ...more,
});
const graph = (more: Partial<FunctionDerivations> = {}): FunctionDerivations => ({
  function: 'main',
  entries: [{ fact: 'nothing', start: true, callers: [], summary: ['nothing'] }],
  configurations: [
    configuration(0, 'nothing'),
    configuration(1, 'p is null'),
    configuration(2, 'p is null'),
    configuration(2, 'error', { error: true, reported: true }),
  ],
  derivations: [derivation(0, 1), derivation(1, 2), derivation(1, 3), derivation(2, 1, { again: true })],
  leftOut: 0,
  leadsTo: [],
  ...more,
});

const boxes = (svg: string) => [...svg.matchAll(/data-index="(\d+)"/g)].map((match) => Number(match[1]));
const tops = (svg: string) =>
  [...svg.matchAll(/<g class="(?:configuration|error)"[^>]*><title>[^<]*<\/title><rect x="[^"]*" y="([^"]*)"/g)].map(
    (match) => Number(match[1]),
  );

describe('the drawing of a derivation graph', () => {
  it('has a box for each configuration, in order, that a keyboard reaches', () => {
    const svg = drawing(graph());
    assert.deepEqual(boxes(svg), [0, 1, 2, 3]);
    assert.equal(svg.match(/tabindex="0" role="button" aria-label="/g)?.length, 4);
    assert.equal(svg.match(/<g class="error"/g)?.length, 1);
    assert.equal(svg.match(/<g class="entry"/g)?.length, 1);
  });

  it('has an arrow for each derivation, several between the same two too', () => {
    assert.equal(drawing(graph()).match(/class="arrow (first|again)"/g)?.length, 4);
    const twice = graph({ derivations: [derivation(0, 1), derivation(0, 1, { effect: 'other' })] });
    assert.equal(drawing(twice).match(/class="arrow first"/g)?.length, 2);
  });

  it('puts what is derived below what it is derived from, loops or not', () => {
    const [first = 0, second = 0, third = 0, error = 0] = tops(drawing(graph()));
    assert.ok(first < second && second < third && second < error, `${first} ${second} ${third} ${error}`);
  });

  it('links each box with its neighbours', () => {
    assert.match(
      drawing(graph()),
      /data-index="1" data-line="1" data-uri="file:\/\/\/a.c" data-next="2 3" data-previous="0 2"/,
    );
  });

  it('names the summaries that a derivation rests on, and what is left out', () => {
    const svg = drawing(graph({ derivations: [derivation(0, 1, { by: ['f', 'g'] })], leftOut: 1200 }));
    assert.match(svg, /by the summary of f, g/);
    assert.match(svg, /The first 4 of 1,204 configurations of <code>main<\/code>/);
  });

  it('says to which line it leads, and has a button for the whole', () => {
    assert.match(drawing(graph()), /All 4 configurations.*data-whole="false"/);
    const svg = drawing(graph({ leadsTo: [3], leftOut: 1200 }));
    assert.match(svg, /What leads to line 3: 4 of the 1,204 configurations.*data-whole="true"/);
  });

  it('explains the signs that it has, and no others', () => {
    const signs = (svg: string) => [...svg.matchAll(/<i class="([^"]*)">/g)].map((match) => match[1]);
    assert.deepEqual(signs(drawing(graph())), ['sign entry', 'sign', 'sign error', 'line again']);
    const unlikely = graph({ configurations: [configuration(2, 'error', { error: true })], derivations: [] });
    assert.deepEqual(signs(drawing(unlikely)), ['sign entry', 'sign error unlikely']);
  });

  it('leaves out what the function is entered with elsewhere', () => {
    const entry = { fact: 'q is null', start: false, callers: ['g'], summary: [] };
    assert.ok(!drawing(graph({ entries: [...graph().entries, entry] })).includes('q is null'));
  });

  it('lets no text of the program become markup', () => {
    const evil = '"><script>alert(1)</script><g x=\'';
    const svg = drawing(
      graph({
        function: evil,
        entries: [{ fact: evil, start: false, callers: [evil], summary: [evil] }],
        configurations: [configuration(0, evil)],
        derivations: [derivation(0, 0, { effect: evil, by: [evil] })],
      }),
    );
    assert.ok(!svg.includes('<script'));
    assert.ok(!svg.includes("x='"));
    assert.equal(escape('<a href="x">\'&'), '&lt;a href=&quot;x&quot;&gt;&#39;&amp;');
  });

  it('can be empty', () => {
    assert.match(drawing(graph({ entries: [], configurations: [], derivations: [] })), /<svg/);
  });
});
