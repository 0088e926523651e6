// Stepping through a counterexample: which one, and where in it.

import type { TraceStep } from '../protocol';

export class TraceWalk {
  private at: number;

  /** `steps` must not be empty, and in the order of the path. The walk begins at the error, the last one, by default. */
  constructor(
    readonly fingerprint: string,
    readonly steps: readonly TraceStep[],
    start = steps.length - 1,
  ) {
    if (steps.length === 0) {
      throw new RangeError('a trace without steps cannot be walked');
    }
    this.at = Math.min(Math.max(start, 0), steps.length - 1);
  }

  get index(): number {
    return this.at;
  }

  get current(): TraceStep {
    const step = this.steps[this.at];
    if (step === undefined) {
      throw new RangeError(`no step ${this.at}`);
    }
    return step;
  }

  /** Goes on along the path, or back where `distance` is negative, no farther than there are steps; whether it moved. */
  move(distance: number): boolean {
    return this.moveTo(this.at + distance);
  }

  moveTo(index: number): boolean {
    const next = Math.min(Math.max(index, 0), this.steps.length - 1);
    const moved = next !== this.at;
    this.at = next;
    return moved;
  }

  /** The same walk over the trace as it is after an edit, at the step that is most like the one it was at. */
  renewed(steps: readonly TraceStep[]): TraceWalk {
    const current = this.current;
    const same = (step: TraceStep) =>
      step.text === current.text && step.function === current.function && step.kind === current.kind;
    const nearest = steps.map((step, index) => ({ step, index })).filter(({ step }) => same(step));
    nearest.sort((a, b) => Math.abs(a.index - this.at) - Math.abs(b.index - this.at));
    return new TraceWalk(this.fingerprint, steps, nearest[0]?.index ?? this.at);
  }
}

/** The values of a step in one line, as in the margin beside the code. */
export function valuesText(step: TraceStep): string {
  return Object.entries(step.values)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ');
}
