/** The end of a time path, as rows of a profile. */
import { Arrival, noTimePath, State, type RawProfile } from '../../ts-frontend/src/model/index.js';
import type { ThreadState } from './doing.js';

/** What else is known of a stretch of the time path. */
export interface PathStretch {
  state: ThreadState;
  came: keyof typeof Arrival;
  by: string;
  waitedFor: string;
  inferred: boolean;
}
export interface PathRow {
  ns: number;
  thread: number;
  stack: number;
  how: Partial<PathStretch>;
}

/** The rows that the sampler writes for a path's end. It has two windows; the older one is empty. */
export function pathEndOf(
  rows: readonly PathRow[],
  elapsed: number,
  undecidedNs: number,
  id: (name: string) => number,
): Pick<RawProfile, 'recentPaths' | 'recentSegments'> {
  if (rows.length === 0) return noTimePath();
  const ns = rows.reduce((sum, row) => sum + row.ns, 0);
  let next = elapsed - ns;
  const words = (of: (row: PathRow) => number): Uint32Array => Uint32Array.from(rows, of);
  const bytes = (of: (row: PathRow) => number): Uint8Array => Uint8Array.from(rows, of);
  const object = (name: string | undefined): number => (name === undefined ? 0 : id(name));
  return {
    recentPaths: {
      number: Float64Array.of(0, 2),
      startNs: Float64Array.of(0, next),
      ns: Float64Array.of(0, ns),
      undecidedNs: Float64Array.of(0, undecidedNs),
      cutNs: Float64Array.of(0, 0),
      first: Float64Array.of(0, 0),
      count: Float64Array.of(0, rows.length),
    },
    recentSegments: {
      startNs: Float64Array.from(rows, (row) => (next += row.ns) - row.ns),
      ns: Float64Array.from(rows, (row) => row.ns),
      stack: words((row) => row.stack),
      thread: words((row) => row.thread),
      object: words((row) => object(row.how.waitedFor)),
      state: bytes((row) => State[row.how.state ?? 'useful']),
      arrival: bytes(() => Arrival.same),
      inferred: bytes((row) => (row.how.inferred === true ? 1 : 0)),
      came: bytes((row) => Arrival[row.how.came ?? 'same']),
      by: words((row) => object(row.how.by)),
      joined: words(() => 1),
    },
  };
}
