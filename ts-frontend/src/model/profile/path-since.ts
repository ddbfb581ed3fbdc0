/** The part of a time path that came after an earlier read of the same recording (difference.ts). Pure. */
import { f64, item, u32, u8 } from './columns.js';
import type { RawProfile } from './raw-profile.js';

type PathTables = Pick<RawProfile, 'onPath' | 'segments'> & { pathNs: number };

/**
 * While the program runs there are only sums, whose rows keep their order. The final ones are others, but then there
 * are the segments in order of time.
 */
export function pathSince(later: RawProfile, earlier: RawProfile): PathTables {
  const { onPath, segments } = later;
  if (later.head.pathNs > 0) return finalSince(later, earlier.head.elapsedNs);
  const before = earlier.onPath.ns;
  const ns = onPath.ns.map((its, k) => Math.max(0, its - (before[k] ?? 0)));
  return { onPath: { ...onPath, ns }, segments, pathNs: 0 };
}

function finalSince({ head, segments: s }: RawProfile, from: number): PathTables {
  const first = s.startNs.findIndex((start, k) => start + f64(s.ns, k) > from);
  const kept = first < 0 ? s.ns.length : first;
  const segments = {
    startNs: s.startNs.subarray(kept).map((start) => Math.max(0, start - from)),
    ns: s.ns.subarray(kept).map((ns, k) => Math.min(ns, f64(s.startNs, kept + k) + ns - from)),
    stack: s.stack.subarray(kept),
    thread: s.thread.subarray(kept),
    object: s.object.subarray(kept),
    state: s.state.subarray(kept),
    arrival: s.arrival.subarray(kept),
    inferred: s.inferred.subarray(kept),
    came: s.came.subarray(kept),
    by: s.by.subarray(kept),
    joined: s.joined.subarray(kept),
  };
  return { onPath: sumsOf(segments), segments, pathNs: Math.max(0, head.pathNs - from) };
}

/** The sums of segments by what they have in common. */
function sumsOf(s: RawProfile['segments']): RawProfile['onPath'] {
  const rows = new Map<string, { first: number; count: number; ns: number }>();
  s.ns.forEach((ns, k) => {
    const key = [s.stack, s.thread, s.object, s.state, s.arrival, s.inferred].map((of) => of[k]).join(' ');
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { first: k, count: 1, ns });
    else {
      row.count++;
      row.ns += ns;
    }
  });
  const all = [...rows.values()];
  return {
    stack: Uint32Array.from(all, ({ first }) => u32(s.stack, first)),
    thread: Uint32Array.from(all, ({ first }) => u32(s.thread, first)),
    object: Uint32Array.from(all, ({ first }) => item(s.object, first)),
    state: Uint8Array.from(all, ({ first }) => u8(s.state, first)),
    arrival: Uint8Array.from(all, ({ first }) => item(s.arrival, first)),
    inferred: Uint8Array.from(all, ({ first }) => item(s.inferred, first)),
    count: Float64Array.from(all, ({ count }) => count),
    ns: Float64Array.from(all, ({ ns }) => ns),
  };
}
