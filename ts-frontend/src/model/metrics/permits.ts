/**
 * Finds what limits how many threads wait for something slow at a time (a sleep that stands for it, a device, an
 * answer): a semaphore, or a condition with a counter or a pool. What such an object protects is a wait, not code, so
 * it is no lock of the program, although threads of one role let each other go there (docs/reference/findings.md,
 * "Exclusion"). Pure.
 */
import { f64, u16, u32, u8 } from '../profile/columns.js';
import { addTo, total } from '../profile/maps.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { State, Waiting } from '../profile/raw-profile.js';
import { Purpose } from '../profile/abi.js';

/** Of the waiting at the object, and of the time in which nothing runs, at least this share is beside such a wait. */
const mostly = 0.5;
/** The least share of all waiting at the object that must be of threads that do this. */
const theirs = 0.75;
/** The least mean number of threads that wait for others to be done, while nothing runs. */
const leastWaiting = 0.5;
/** A thread does the same if it has this share of the mean time in such waits. */
const leastPart = 0.25;
/** The time in which nothing runs must be this share of the elapsed time. */
const leastRest = 0.1;

/**
 * The objects among `isCandidate` at which these threads wait for each other while nothing runs and others of them are
 * in input, output or sleep. Waits for any of several events, or for a signal, are none of these: they need not be
 * slow.
 */
export function permitsOf(
  raw: RawProfile,
  among: ReadonlySet<number>,
  isCandidate: (object: number) => boolean,
): number[] {
  const { tuples, stacks, balance, head } = raw;
  let restNs = 0;
  for (let k = 0; k < balance.ns.length; k++) if (u16(balance.busy, k) === 0) restNs += f64(balance.ns, k);
  if (restNs < leastRest * head.elapsedNs) return [];
  const all = new Map<number, number>(),
    their = new Map<number, number>(),
    atRest = new Map<number, number>(),
    waits = new Map<number, number>(), // by thread, at rest
    slow = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const entity = u32(stacks.entity, u32(tuples.stack, k)),
      ns = f64(tuples.ns, k),
      isTheirs = among.has(u32(tuples.thread, k)),
      isAtRest = u16(tuples.busy, k) === 0;
    if (tuples.waiting[k] !== Waiting.none) {
      if (!isCandidate(entity)) continue;
      addTo(all, entity, ns);
      if (isTheirs) addTo(their, entity, ns);
      if (isTheirs && isAtRest) {
        addTo(atRest, entity, ns);
        addTo(waits, u32(tuples.thread, k), ns);
      }
    } else if (isTheirs && isAtRest && u8(tuples.state, k) === State.io) {
      const purposes = raw.entities[entity]?.purposes ?? 0;
      const isOpen = (purposes & Purpose.requests) !== 0 && (purposes & Purpose.receiving) === 0;
      if (!isOpen && (purposes & Purpose.signal) === 0) addTo(slow, u32(tuples.thread, k), ns);
    }
  }
  // Nothing is slow for most of the time if none of them is, even if several are at a time.
  if (total(slow) < mostly * restNs || total(atRest) < leastWaiting * restNs) return [];
  // Who waits for what others read or write does not do so itself.
  const isDoing = (thread: number): boolean => (slow.get(thread) ?? 0) >= (leastPart * total(slow)) / slow.size;
  const doing = [...waits].reduce((sum, [thread, ns]) => sum + (isDoing(thread) ? ns : 0), 0);
  if (doing < theirs * total(waits)) return [];
  return [...atRest]
    .filter(([object, ns]) => ns >= mostly * (their.get(object) ?? 0))
    .filter(([object]) => (their.get(object) ?? 0) >= theirs * (all.get(object) ?? 0))
    .map(([object]) => object);
}
