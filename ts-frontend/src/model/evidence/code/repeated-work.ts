/**
 * What each of several threads does again: procedures that take about as long in each of them
 * (docs/reference/findings.md, "Code"). Pure functions.
 */
import { f64, item, u16, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { isBusy } from '../../metrics/sums.js';
import { pathOf } from '../../profile/stack-tree.js';
import type { RepeatedWork } from '../../result/fact-parts.js';
import { shownId, type FindingContext } from '../context.js';

/** A procedure is repeated if each of the threads spends at least this share of the mean time in it. */
const alike = 0.5;
/** What takes more of a thread's time than this is all that it does: its start routine, and what only calls on. */
const nearlyAll = 0.9;
/** The least share of a thread's time that is worth a name, */
const leastPart = 0.15;
/** and the share of a procedure's time with which one that it calls takes its place. */
const within = 0.8;
const mostNamed = 2;

interface Inclusive {
  byThread: Map<number, number>;
  byNode: Map<number, number>;
  ns: number;
}

/** NPT of each procedure in these threads, what it calls included; and of all that they do. */
function inclusiveOf({ model, tables }: FindingContext, among: ReadonlySet<number>): Map<number, Inclusive> {
  const { tuples } = model.raw;
  const all = new Map<number, Inclusive>();
  const paths = new Map<number, Set<number>>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const thread = u32(tuples.thread, k),
      node = u32(tuples.stack, k);
    if (!among.has(thread) || !isBusy(u8(tuples.state, k))) continue;
    const npt = f64(tables.weights, k) / Math.max(1, u16(tuples.busy, k));
    let path = paths.get(node);
    if (!path) paths.set(node, (path = new Set([0, ...pathOf(tables.stacks, node).map((id) => shownId(model, id))])));
    for (const id of path) {
      let its = all.get(id);
      if (!its) all.set(id, (its = { byThread: new Map(), byNode: new Map(), ns: 0 }));
      addTo(its.byThread, thread, npt);
      addTo(its.byNode, node, npt);
      its.ns += npt;
    }
  }
  return all;
}

/** The part of a procedure's time that is on paths of the other one, too. */
function sharedNs(one: Inclusive, other: Inclusive): number {
  let ns = 0;
  for (const [node, npt] of one.byNode) if (other.byNode.has(node)) ns += npt;
  return ns;
}

/** Null if no procedure takes a notable and equal part of each thread's time. */
export function repeatedWork(context: FindingContext, threads: readonly number[]): RepeatedWork | null {
  const { entities } = context.model;
  const inclusive = inclusiveOf(context, new Set(threads));
  const whole = inclusive.get(0);
  if (!whole) return null;
  const isRepeated = ({ byThread, ns }: Inclusive): boolean =>
    threads.every((thread) => (byThread.get(thread) ?? 0) >= (alike * ns) / threads.length);
  const found = [...inclusive]
    .filter(([id, its]) => id !== 0 && item(entities, id).kind === 'procedure' && isRepeated(its))
    .filter(([, { ns }]) => ns >= leastPart * whole.ns && ns < nearlyAll * whole.ns)
    .sort((a, b) => b[1].ns - a[1].ns);
  const named: [number, Inclusive][] = [];
  for (let rest = found; rest.length > 0 && named.length < mostNamed;) {
    let [best] = rest;
    if (!best) break;
    for (const one of rest) if (sharedNs(one[1], best[1]) >= within * best[1].ns) best = one;
    const [, its] = best;
    named.push(best);
    rest = rest.filter(([, other]) => sharedNs(other, its) < (1 - within) * other.ns && sharedNs(its, other) === 0);
  }
  const eachOf = ({ ns }: Inclusive): number => ns / threads.length;
  return named.length === 0
    ? null
    : { workNs: eachOf(whole), procedures: named.map(([entity, its]) => ({ entity, eachNs: eachOf(its) })) };
}
