/**
 * Locks that a run-time takes whenever a thread begins or ends: with a thread for each request, they are contended, and
 * the time in which one thread at a time begins or ends looks serial. The cause is the number of threads
 * (docs/reference/findings.md, "Short threads"). Pure functions.
 */
import { item } from '../profile/columns.js';
import { isNameless } from '../metrics/public-names.js';
import { isOfSystem, isOwn } from '../evidence/code-origin.js';
import type { Finding, Model, PathTime } from '../result/types.js';

/** A thread takes such a lock at most this often. */
const mostEach = 5;
/** The least share of the waiting that is outside of the program's code. */
const mostly = 0.5;

/** Whether the lock is taken by a run-time, and not on behalf of the program's code that runs in these threads. */
function isRunTimes({ entities }: Model, waiters: readonly PathTime[]): boolean {
  let all = 0,
    outside = 0;
  for (const { path, ns } of waiters) {
    const procedures = path.map((id) => item(entities, id)).filter(({ kind }) => kind === 'procedure');
    const inner = procedures.at(-1);
    all += ns;
    if (inner && isOfSystem(inner) && !procedures.some((one) => isOwn(one) && !isNameless(one))) outside += ns;
  }
  return all > 0 && outside >= mostly * all;
}

/** Whether the finding is about such a lock. */
function isThreadLock(model: Model, { facts, entity: id }: Finding, spawns: number): boolean {
  if (facts.form !== 'lock' && facts.form !== 'hand-overs') return false;
  const { object, members } = item(model.entities, id);
  const objects = [object, ...members.map((one) => item(model.entities, one).object)];
  const taken = objects.reduce((sum, one) => sum + (one?.acquisitions ?? 0), 0);
  const waiters = objects.flatMap((one) => one?.waiters ?? []);
  return object?.counted === true && taken <= mostEach * spawns && isRunTimes(model, waiters);
}

/** Adds what waiting for such locks costs to the finding about short threads, and leaves the effects out. */
export function joinThreadLocks(model: Model, findings: readonly Finding[]): Finding[] {
  const short = findings.find(({ facts }) => facts.form === 'short-threads');
  if (short?.facts.form !== 'short-threads') return [...findings];
  const { facts } = short;
  const locks = findings.filter((one) => isThreadLock(model, one, facts.spawns));
  if (locks.length === 0) return [...findings];
  for (const lock of locks) {
    short.costNs = Math.min(model.elapsedNs, short.costNs + lock.costNs);
    facts.mostNs = Math.min(short.costNs, facts.mostNs + lock.savingNs);
    short.related.push(lock.entity);
  }
  short.savingNs = (facts.savesNs + facts.mostNs) / 2;
  facts.locks = locks.map(({ entity, costNs }) => ({ entity, costNs }));
  /** One thread at a time begins or ends, or waits for that lock. */
  const isEffect = ({ facts: { form }, entity }: Finding): boolean =>
    form === 'serial' && isOfSystem(item(model.entities, entity));
  return findings.filter((one) => !locks.includes(one) && !isEffect(one));
}
