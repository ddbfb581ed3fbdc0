/** What a component of generated programs is, and what helps to describe one. Pure. */
import type { FindingKind } from '../../../ts-frontend/src/model/index.js';
import type { Random } from './random.js';

/** What the command line gives to a component: threads, count, work of two parts (us), size. */
export interface Numbers {
  t?: number;
  n: number;
  a: number;
  b?: number;
  c?: number;
}

export interface Change {
  fix: 1 | 2;
  what: string;
  kinds: readonly FindingKind[]; // of findings that advise it
  spreads?: boolean; // it divides the work among more threads
}

export interface Component {
  kind: string;
  openmp?: boolean;
  names: RegExp; // of its procedures and objects
  changes: readonly Change[];
  /** Numbers with which it takes about so many milliseconds on two CPUs. */
  draw: (random: Random, ms: number) => Numbers;
}

export const locks: readonly FindingKind[] = ['lock-contention', 'overhead', 'spinning'];
export const change = (what: string, ...kinds: FindingKind[]): Change => ({ fix: 1, what, kinds });
export const spread = (what: string, ...kinds: FindingKind[]): Change => ({ fix: 1, what, kinds, spreads: true });
export const times = (ms: number, us: number): number => Math.max(4, Math.round((1000 * ms) / us));

/** What a hand-over between threads takes on the machine of the bench, us: only for how long a program will run. */
export const handOverUs = 8;
