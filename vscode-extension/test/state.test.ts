import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { appearance, StateModel, type Finding } from '../src/model/state';
import type { DocumentStatus, FunctionStatus } from '../src/protocol';

const at = (line: number) => ({ start: { line, character: 4 }, end: { line, character: 8 } });
const func = (name: string, line: number, more: Partial<FunctionStatus> = {}): FunctionStatus => ({
  name,
  range: at(line),
  verdict: 'unknown',
  standing: 'unknown',
  stale: false,
  reason: 'not proved',
  ...more,
});
const status = (
  uri: string,
  version: number,
  functions: FunctionStatus[],
  state: DocumentStatus['state'] = 'idle',
): DocumentStatus => ({ uri, version, state, message: null, functions, heldBack: 0 });
const finding = (uri: string, fingerprint: string): Finding => ({
  uri,
  fingerprint,
  range: at(1),
  rule: 'null-dereference',
  message: 'p may be null',
  confirmed: false,
  stale: false,
  related: [],
});

describe('the state model', () => {
  it('lists findings without a place beside those that have one', () => {
    const model = new StateModel();
    const unplaced = {
      fingerprint: '1',
      rule: 'double-free',
      message: 'freed twice',
      function: 'f',
      status: 'possible' as const,
    };
    model.takeFindings('b', [finding('b', '2')]);
    model.takeStatus({ ...status('a', 2, []), unplaced: [unplaced] });
    assert.deepEqual(model.filesWithFindings(), ['a', 'b']);
    assert.deepEqual(model.unplaced('a'), [unplaced]);
    model.takeStatus(status('a', 3, []));
    assert.deepEqual(model.filesWithFindings(), ['b']);
  });

  it('keeps the newest status and ignores one of an older version', () => {
    const model = new StateModel();
    model.takeStatus(status('a', 2, [func('f', 1)]));
    model.takeStatus(status('a', 1, []));
    assert.deepEqual(
      model.status('a')?.functions.map(({ name }) => name),
      ['f'],
    );
    model.takeStatus(status('a', 2, [func('g', 1)]));
    assert.deepEqual(
      model.status('a')?.functions.map(({ name }) => name),
      ['g'],
    );
  });

  it('begins anew with a document that was closed and opened: versions do, too', () => {
    const model = new StateModel();
    model.takeStatus(status('a', 9, [func('f', 1)]));
    model.close('a');
    assert.equal(model.status('a'), undefined);
    model.takeStatus(status('a', 1, []));
    assert.equal(model.status('a')?.version, 1);
  });

  it('says which documents changed, and nothing when nothing did', () => {
    const model = new StateModel();
    const told: unknown[] = [];
    const subscription = model.onChange(({ uris }) => told.push(uris === 'all' ? uris : [...uris]));
    model.takeFindings('a', []);
    model.close('a');
    assert.deepEqual(told, []);
    model.takeFindings('a', [finding('a', '1')]);
    model.takeFindings('a', []);
    model.connectionChanged('running');
    assert.deepEqual(told, [['a'], ['a'], 'all']);
    subscription.dispose();
    model.connectionChanged('stopped');
    assert.equal(told.length, 3);
  });

  it('finds a finding in whatever file', () => {
    const model = new StateModel();
    model.takeFindings('b', [finding('b', '2'), finding('b', '3')]);
    model.takeFindings('a', [finding('a', '1')]);
    assert.deepEqual(model.filesWithFindings(), ['a', 'b']);
    assert.equal(model.finding('3')?.uri, 'b');
    assert.equal(model.finding('4'), undefined);
  });

  it('forgets what a server said that has ended', () => {
    const model = new StateModel();
    model.takeStatus(status('a', 1, [func('f', 1)]));
    model.takeFindings('a', [finding('a', '1')]);
    model.connectionChanged('stopped');
    assert.deepEqual([model.status('a'), model.finding('1'), model.connection], [undefined, undefined, 'stopped']);
  });

  it('knows the function that a position is in, in whatever order functions come', () => {
    const model = new StateModel();
    model.takeStatus(status('a', 1, [func('second', 20), func('first', 3)]));
    const name = (line: number) => model.functionAt('a', { line, character: 0 })?.name;
    assert.deepEqual(
      [name(0), name(3), name(19), name(20), name(99)],
      [undefined, 'first', 'first', 'second', 'second'],
    );
  });
});

describe('how a function is shown', () => {
  for (const verdict of ['safe', 'violated', 'unknown'] as const) {
    it(`never as ${verdict} when that is stale`, () => {
      const known = func('f', 1, { verdict, stale: true });
      assert.equal(appearance(status('a', 1, [known], 'checking'), known), 'checking');
      assert.equal(appearance(status('a', 1, [known], 'idle'), known), 'stale');
      assert.equal(appearance(status('a', 1, [known], 'failed'), known), 'stale');
    });
  }

  it('as its verdict when that holds', () => {
    const shown = (standing: FunctionStatus['standing']) => {
      const known = func('f', 1, { standing });
      return appearance(status('a', 1, [known]), known);
    };
    for (const standing of ['confirmed', 'possible', 'proved', 'unknown'] as const) {
      assert.equal(shown(standing), standing);
    }
  });
});
