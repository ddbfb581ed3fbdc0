/**
 * Whether the threads of two roles wait for each other's results in turn, so that one side at a time is at work: the
 * time path then goes to and fro between them, and most of what either side works is on it. In a pipeline with room
 * between its stages, only the slowest stage is on the path (docs/reference/findings.md, "Round trips"). Pure.
 */
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { addTo, total } from '../../profile/maps.js';
import { Arrival, State } from '../../profile/raw-profile.js';
import { aliveAtOnce } from './alive-at-once.js';
import type { FindingContext } from '../context.js';
import { passesData } from '../wait-kinds.js';

/** The least share of each side's work that is on the path. */
const mostlyOnPath = 0.5;
/** The least number of times that the path goes from one side to the other, in each direction. */
const leastTrips = 10;
/** It must do so in at least this share of equal parts of the run. */
const parts = 20,
  leastParts = 0.75;
/** The least share of the work on the path that is of both sides, and of the smaller one. */
const leastBoth = 0.75,
  leastEach = 0.05;

interface Side {
  threads: number[];
  onPathNs: number; // at work, or without a CPU for it
  worksNs: number; // the part at work
  workNs: number; // the least time that its work takes: of the thread that works most, or spread over the threads
  allNs: number; // all of its work
}
export interface RoundTrips {
  sides: [Side, Side]; // the one with more work first
  objects: number[]; // where they wait, most changes first
}

/** null: no path was recorded, or the program does not do so. */
export function roundTripsOf({ model, roles }: FindingContext): RoundTrips | null {
  const { raw, entities, processors } = model;
  const { segments, head } = raw;
  if (head.pathNs <= 0) return null;
  const onPath = new Map<number, number>(),
    works = new Map<number, number>();
  for (let k = 0; k < segments.ns.length; k++) {
    const state = u8(segments.state, k);
    if (state !== State.useful && state !== State.ready) continue;
    addTo(onPath, u32(segments.thread, k), f64(segments.ns, k));
    if (state === State.useful) addTo(works, u32(segments.thread, k), f64(segments.ns, k));
  }
  works.delete(0);
  const all = roles.divide(works.keys()).map((threads): Side => {
    const its = threads.map((id) => roles.workNs(id) / Math.max(1, item(entities, id).instances));
    const sum = threads.reduce((ns, id) => ns + roles.workNs(id), 0);
    return {
      threads,
      onPathNs: threads.reduce((ns, id) => ns + (onPath.get(id) ?? 0), 0),
      worksNs: threads.reduce((ns, id) => ns + (works.get(id) ?? 0), 0),
      workNs: Math.max(...its, sum / Math.min(processors, Math.max(1, aliveAtOnce(model, threads)))),
      allNs: sum,
    };
  });
  const [one, other] = all.sort((a, b) => b.worksNs - a.worksNs);
  if (!one || !other) return null;
  const least = leastEach * total(works);
  const isOnPath = ({ worksNs, workNs }: Side): boolean => worksNs >= Math.max(least, mostlyOnPath * workNs);
  if (!isOnPath(one) || !isOnPath(other) || one.worksNs + other.worksNs < leastBoth * total(works)) return null;
  const by = new Map<number, number>(),
    times = new Set<number>();
  let there = 0,
    back = 0;
  for (let k = 1; k < segments.ns.length; k++) {
    const from = u32(segments.thread, k - 1),
      to = u32(segments.thread, k),
      object = u32(segments.by, k);
    if (from === to || segments.came[k] !== Arrival.woken || !passesData(item(entities, object))) continue;
    const isThere = one.threads.includes(from) && other.threads.includes(to);
    if (!isThere && !(other.threads.includes(from) && one.threads.includes(to))) continue;
    if (isThere) there++;
    else back++;
    addTo(by, object, 1);
    times.add(Math.floor((parts * f64(segments.startNs, k)) / head.pathNs));
  }
  if (there < leastTrips || back < leastTrips || times.size < leastParts * parts) return null;
  const objects = [...by].sort((a, b) => b[1] - a[1]).map(([object]) => object);
  return { sides: one.workNs >= other.workNs ? [one, other] : [other, one], objects };
}
