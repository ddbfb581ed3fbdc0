/**
 * The time in which the threads that wait for some objects live, so that phases of the program in which others live do
 * not count (docs/reference/findings.md, "Overhead"). Pure functions.
 */
import { item } from '../profile/columns.js';
import type { Entity, Model } from '../result/types.js';

interface Phase {
  elapsedShare: number; // part of the elapsed time in which any of them lives
  processorShare: number; // part of the processor time, of all threads, if each works evenly while it lives
}

const whole: Phase = { elapsedShare: 1, processorShare: 1 };

/** Of groups, all members count. The whole program where nobody knows who waits, or when they live. */
export function phaseOf({ entities, elapsedNs }: Model, objects: Iterable<number>): Phase {
  const those = [...objects].flatMap((id) => [id, ...item(entities, id).members]);
  const waiters = new Set(
    those.flatMap((id) => (item(entities, id).object?.waiters ?? []).map(({ thread }) => thread)),
  );
  let first = Infinity,
    last = 0;
  for (const id of waiters) {
    const { thread, instances } = item(entities, id);
    if (!thread || instances > 1) return whole;
    first = Math.min(first, thread.firstNs);
    last = Math.max(last, thread.lastNs);
  }
  if (last <= first) return whole;
  const threads = entities.filter(({ kind, members }) => kind === 'thread' && members.length === 0);
  const within = ({ thread }: Entity): number => {
    if (!thread || thread.lastNs <= thread.firstNs) return 1;
    const both = Math.min(last, thread.lastNs) - Math.max(first, thread.firstNs);
    return Math.max(0, both) / (thread.lastNs - thread.firstNs);
  };
  const all = threads.reduce((sum, one) => sum + one.processorTimeNs, 0);
  const its = threads.reduce((sum, one) => sum + within(one) * one.processorTimeNs, 0);
  return { elapsedShare: Math.min(1, (last - first) / elapsedNs), processorShare: all > 0 ? its / all : 1 };
}
