import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TraceWalk, valuesText } from '../src/model/walk';
import type { TraceStep } from '../src/protocol';

const step = (text: string, line = 0, values: Record<string, string> = {}): TraceStep => ({
  uri: 'file:///a.c',
  range: { start: { line, character: 0 }, end: { line, character: 1 } },
  function: 'f',
  depth: 0,
  kind: 'assign',
  text,
  values,
  summary: text,
});

describe('walking a trace', () => {
  it('goes from the error back to the first step and no farther', () => {
    const walk = new TraceWalk('1', [step('a'), step('b'), step('c')]);
    assert.equal(walk.current.text, 'c');
    assert.deepEqual([walk.move(-1), walk.move(-1), walk.move(-1)], [true, true, false]);
    assert.equal(walk.current.text, 'a');
    assert.deepEqual([walk.move(2), walk.move(1)], [true, false]);
    assert.equal(walk.index, 2);
  });

  it('begins where it is told to, inside the trace', () => {
    assert.equal(new TraceWalk('1', [step('a'), step('b')], 7).index, 1);
    assert.equal(new TraceWalk('1', [step('a'), step('b')], -7).index, 0);
    assert.throws(() => new TraceWalk('1', []), RangeError);
  });

  it('follows an edit to the nearest step that says the same', () => {
    const walk = new TraceWalk('1', [step('a'), step('b'), step('a'), step('c')], 2);
    assert.equal(walk.renewed([step('new'), step('a', 1), step('b'), step('a', 9), step('c')]).index, 1);
    assert.equal(walk.renewed([step('x'), step('b'), step('x'), step('a', 9)]).index, 3);
    assert.equal(walk.renewed([step('x')]).index, 0);
  });

  it('shows values in one line', () => {
    assert.equal(valuesText(step('a', 0, { p: 'NULL', n: '3' })), 'p = NULL, n = 3');
    assert.equal(valuesText(step('a')), '');
  });
});
