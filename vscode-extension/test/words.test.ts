import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { milliseconds, standingCounts, statusText, verdictText } from '../src/model/words';
import type { DocumentStatus, FunctionStatus } from '../src/protocol';

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
const known = (more: Partial<FunctionStatus>): FunctionStatus => ({
  name: 'f',
  range,
  verdict: 'unknown',
  standing: 'unknown',
  stale: false,
  reason: null,
  ...more,
});
const status = (more: Partial<DocumentStatus> = {}): DocumentStatus => ({
  uri: 'a',
  version: 1,
  state: 'idle',
  message: null,
  functions: [],
  heldBack: 0,
  ...more,
});

describe('words for a verdict', () => {
  it('give the reason', () => {
    assert.equal(
      verdictText(status(), known({ standing: 'unknown', reason: 'not proved' })),
      'f: unknown (not proved)',
    );
    assert.equal(
      verdictText(status(), known({ standing: 'possible', reason: 'null-dereference' })),
      'f: possible: null-dereference',
    );
    assert.equal(verdictText(status(), known({ standing: 'proved' })), 'f: proved');
  });

  it('never say a stale verdict as if it held', () => {
    assert.equal(
      verdictText(status(), known({ standing: 'proved', stale: true, reason: 'edited since' })),
      'f: stale, was proved (edited since)',
    );
    assert.equal(
      verdictText(
        status({ state: 'checking' }),
        known({ standing: 'confirmed', stale: true, reason: 'null-dereference' }),
      ),
      'f: checking, was confirmed (null-dereference)',
    );
  });
});

describe('a proof of before', () => {
  it('is being checked again, or waits for text that parses', () => {
    assert.equal(verdictText(status(), known({ rechecked: ['a'] })), 'f: proved, being re-checked');
    const waiting = known({ waiting: ['a'] });
    assert.equal(verdictText(status(), waiting), 'f: proved, re-checked once all of the program parses');
  });
});

describe('the status bar', () => {
  it('says the function, its verdict and the time', () => {
    const { text, details } = statusText(
      'running',
      status({ times: { preprocess: 12.2, parse: 0.1, total: 31.4 }, memory: 52_000_000 }),
      known({ standing: 'proved' }),
    );
    assert.equal(text, '$(pass) f: proved · 31 ms');
    assert.deepEqual(details.slice(2), [
      'Last check: 31 ms (preprocess 12 ms)',
      'Memory of the checker and its provers: 52 MB',
    ]);
  });

  it('counts what is new since the reference, and says what is older', () => {
    const reference = { name: 'HEAD', new: 2, older: 31, text: '2 new since HEAD, 31 older' };
    const { text, details } = statusText('running', status({ reference }), known({ standing: 'possible' }));
    assert.equal(text, '$(warning) f: possible · 2 new');
    assert.ok(details.includes('Findings: 2 new since HEAD, 31 older.'));
    const none = statusText('running', status({ reference: { ...reference, new: 0 } }), known({ standing: 'proved' }));
    assert.equal(none.text, '$(pass) f: proved');
  });

  it('shows no time while a check is under way, and no verdict of before', () => {
    assert.equal(
      statusText(
        'running',
        status({ state: 'checking', times: { total: 9 } }),
        known({ standing: 'proved', stale: true }),
      ).text,
      '$(sync~spin) f: checking',
    );
  });

  it('warns when the check failed or there is no server', () => {
    const failed = statusText(
      'running',
      status({ state: 'failed', message: 'The rules could not be read.' }),
      undefined,
    );
    assert.deepEqual(
      [failed.warning, failed.details[0]],
      [true, 'The check is not complete: The rules could not be read.'],
    );
    assert.deepEqual(
      [statusText('stopped', status(), undefined).warning, statusText('missing', undefined, undefined).warning],
      [true, true],
    );
    assert.equal(statusText('starting', undefined, undefined).warning, false);
  });

  it('rounds times for people', () => {
    assert.deepEqual([milliseconds(0.4), milliseconds(999), milliseconds(1240)], ['0 ms', '999 ms', '1.2 s']);
  });
});

describe('the counts of a file', () => {
  it('leave out what is not known', () => {
    const functions = (['proved', 'unknown', 'possible', 'proved'] as const).map((standing) => known({ standing }));
    assert.equal(standingCounts(functions), '1 possible · 2 proved');
    assert.equal(standingCounts([known({})]), '');
  });
});
