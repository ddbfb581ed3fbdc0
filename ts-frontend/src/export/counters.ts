/**
 * The time lines in a profile: counters of processors by state and of runnable threads, and the lifetime of each
 * thread; with --timeline also the states of each thread (tracks.ts). All formats of time lines are written from these
 * facts. Pure functions.
 */
import { baseName, type Model } from '../model/index.js';
import { hasSlices, tracksOf, type Slice, type Track } from './tracks.js';

export interface Counter {
  name: string;
  unit: string;
  /** Values from each time on, in ns since the beginning of the recording; the last value is 0, at its end. */
  points: readonly { atNs: number; value: number }[];
}
interface Life {
  id: number;
  name: string;
  fromNs: number;
  toNs: number;
}
export interface TimeLine {
  process: { id: number; name: string };
  /** States of threads, holds of locks, the critical path; empty if they were not recorded (--timeline). */
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
 * A lifetime that covers the thread's slices: the first may begin before the snapshot that first saw the thread. Trace
 * viewers match an end event with the most recent begin event, so they must nest.
 */
function around(life: Life, slices: readonly Slice[]): Life {
  const [first, last] = [slices[0], slices.at(-1)];
  if (first === undefined || last === undefined) return life;
  return { ...life, fromNs: Math.min(life.fromNs, first.atNs), toNs: Math.max(life.toNs, last.atNs + last.ns) };
}
