// What the server says beyond LSP; docs/protocol.md describes it. Lines and characters count from 0, in UTF-16.

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

export type Verdict = 'safe' | 'violated' | 'unknown';

/** What people are told of a function. */
export type Standing = 'confirmed' | 'possible' | 'proved' | 'unknown';

/** A function of an open document. `reason` says why it is stale, violated or unknown. */
export interface FunctionStatus {
  readonly name: string;
  readonly range: Range;
  readonly verdict: Verdict;
  readonly standing: Standing;
  readonly stale: boolean;
  readonly reason: string | null;
  /** Rules that were proved before the last edit and are being checked again. */
  readonly rechecked?: readonly string[];
  /** The same, where they are checked again only once all of the program parses. */
  readonly waiting?: readonly string[];
}

/** How many findings are new since what they are compared with; `text` says it in words. */
export interface ReferenceCounts {
  readonly name: string;
  readonly new: number;
  readonly older: number;
  readonly text: string;
}

/** The parameters of `everproof/status`. `times` are milliseconds of the last complete check by stage, `memory` is in bytes. */
export interface DocumentStatus {
  readonly uri: string;
  readonly version: number | null;
  readonly state: 'checking' | 'idle' | 'failed';
  readonly message: string | null;
  readonly functions: readonly FunctionStatus[];
  readonly heldBack: number;
  readonly unplaced?: readonly UnplacedFinding[];
  readonly reference?: ReferenceCounts | null;
  readonly times?: Readonly<Record<string, number>> | null;
  readonly memory?: number | null;
}

/** A finding of a document of which nothing is left in the text; nobody knows yet whether it is gone. */
export interface UnplacedFinding {
  readonly fingerprint: string;
  readonly rule: string;
  readonly message: string;
  readonly function: string;
  readonly status: 'possible' | 'confirmed';
}

/** A step of a counterexample, as the command `everproof.trace` answers it. `depth` counts calls below the entry. */
export interface TraceStep {
  readonly uri: string;
  readonly range: Range;
  readonly function: string;
  readonly depth: number;
  readonly kind: 'entry' | 'assign' | 'branch' | 'call' | 'return' | 'havoc' | 'error';
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
  readonly summary: string;
}

/** The third argument of the command `everproof.trace`: whether all steps are wanted, or those that explain the finding; and
 * whether they begin at the entry or go back from the error. */
export interface TraceOptions {
  readonly whole?: boolean;
  readonly from?: 'entry' | 'error';
}

/** What the command `everproof.derivation` answers: one function's part of the derivation graph. */
export interface FunctionDerivations {
  readonly function: string;
  readonly entries: readonly {
    readonly fact: string;
    readonly start: boolean;
    readonly callers: readonly string[];
    readonly summary: readonly string[];
  }[];
  readonly configurations: readonly {
    readonly location: number;
    readonly entry: number;
    readonly fact: string;
    readonly error: boolean;
    /** It is an error that a finding is about. */
    readonly reported: boolean;
    readonly uri: string;
    readonly range: Range;
  }[];
  /** `source` and `target` are indices of configurations; `again`: the target was known before. */
  readonly derivations: readonly {
    readonly source: number;
    readonly target: number;
    readonly effect: string;
    readonly by: readonly string[];
    readonly again: boolean;
  }[];
  readonly leftOut: number;
  /** The configurations at the line that was asked for, by their indices; none if the whole function was. */
  readonly leadsTo: readonly number[];
}

/** What the command `everproof.fullCheck` answers. */
export interface FullCheckResult {
  readonly complete: boolean;
  readonly reason: string | null;
  readonly findings: number;
  readonly heldBack: number;
}

/** What a diagnostic of a finding carries in `data`. `reason` says why a prover could not decide it, `reasons` why
 * it has its `score`. */
export interface FindingData {
  readonly fingerprint: string;
  readonly status: 'possible' | 'confirmed';
  readonly stale: boolean;
  readonly score: number;
  readonly reasons: readonly string[];
  readonly reason?: string;
  readonly assumptions?: readonly string[];
  readonly since: 'new' | 'old' | 'unknown';
  readonly reference?: string;
  readonly introduced?: IntroducingEdit;
  readonly inCi?: boolean;
}

/** The number of an edit of this session, and the version that it led to; 0 and null for what was there before. */
export interface IntroducingEdit {
  readonly edit: number;
  readonly version: number | null;
}

/** An edit, as the command `everproof.introduced` answers it, with the lines that it touched. */
export interface ShownEdit {
  readonly number: number;
  readonly uri: string;
  readonly version: number;
  readonly range: Range;
  readonly function: string | null;
  readonly before: string;
  readonly after: string;
}

/** What the command `everproof.introduced` answers; `text` is for people. */
export interface Introduction {
  readonly since: 'new' | 'old' | null;
  readonly reference: string;
  readonly edit: ShownEdit | null;
  readonly difference: string | null;
  readonly text: string;
}

/** What the command `everproof.replay` answers: how the run went, and all that was printed. */
export interface Replay {
  readonly status: 'reproduced' | 'otherwise' | 'refused';
  readonly text: string;
}

export const STATUS = 'everproof/status';

export const Commands = {
  fullCheck: 'everproof.fullCheck',
  trace: 'everproof.trace',
  introduced: 'everproof.introduced',
  status: 'everproof.status',
  clearStore: 'everproof.clearStore',
  explainRule: 'everproof.explainRule',
  fix: 'everproof.fix',
  suppress: 'everproof.suppress',
  replay: 'everproof.replay',
  openSarif: 'everproof.openSarif',
  derivation: 'everproof.derivation',
  states: 'everproof.states',
  invariants: 'everproof.invariants',
} as const;
