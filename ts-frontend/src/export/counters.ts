/**
 * What a profile keeps over time: counters of processors by state and of runnable threads, and when each thread lived.
 * With --timeline also what each thread did when (tracks.ts). The facts that every format of time lines is written
 * from. Pure.
 */
import { baseName, type Model } from '../model/index.js';
import { hasSlices, tracksOf, type Slice, type Track } from './tracks.js';

export interface Counter {
  name: string;
  unit: string;
  /** From each time on, ns since the recording began; the last one is 0 at its end. */
  points: readonly { atNs: number; value: number }[];
}
export interface Life {
  id: number;
  name: string;
  fromNs: number;
  toNs: number;
}
export interface TimeLine {
  process: { id: number; name: string };
  /** What each thread did, who held locks, the critical path; empty where that was not recorded (--timeline). */
  tracks: readonly Track[];
  counters: readonly Counter[];
  lives: readonly Life[];
}

export function timeLine(model: Model): TimeLine {
  const stretches = model.timeline.filter(({ ns }) => ns > 0);
  const last = stretches.at(-1);
  const counter = (name: string, unit: string, value: (at: (typeof stretches)[number]) => number): Counter => ({
    name,
    unit,
    points: [
      ...stretches.map((stretch) => ({ atNs: stretch.startNs, value: value(stretch) })),
      ...(last === undefined ? [] : [{ atNs: last.startNs + last.ns, value: 0 }]),
    ],
  });
  const tracks = hasSlices(model) ? tracksOf(model) : [];
  const slicesOf = new Map(tracks.map(({ thread, slices }) => [thread, slices]));
  return {
    process: { id: model.head.pid, name: baseName(model.program) },
    tracks,
    counters: [
      counter('busy processors', 'processors', ({ usefulNs, overheadNs, ns }) => (usefulNs + overheadNs) / ns),
      counter('processors at useful work', 'processors', ({ usefulNs, ns }) => usefulNs / ns),
      counter('spinning processors', 'processors', ({ spinningNs, ns }) => spinningNs / ns),
      counter('idle processors', 'processors', ({ idleNs, ns }) => idleNs / ns),
      counter('runnable threads', 'threads', ({ meanRunnable }) => meanRunnable),
    ],
    lives: model.entities.flatMap(({ rawKind, members, name, thread }) =>
      rawKind === 'thread' && members.length === 0 && thread !== null
        ? [
            around(
              { id: thread.serial, name, fromNs: thread.firstNs, toNs: thread.lastNs },
              slicesOf.get(thread.serial) ?? [],
            ),
          ]
        : [],
    ),
  };
}

/**
 * A life as long as what the thread did in it: its first slice began before the snapshot that saw it. Trace viewers
 * match each end with what began last.
 */
function around(life: Life, slices: readonly Slice[]): Life {
  const [first, last] = [slices[0], slices.at(-1)];
  if (first === undefined || last === undefined) return life;
  return { ...life, fromNs: Math.min(life.fromNs, first.atNs), toNs: Math.max(life.toNs, last.atNs + last.ns) };
}
