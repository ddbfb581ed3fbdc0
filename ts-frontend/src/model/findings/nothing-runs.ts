/**
 * The time in which nothing runs (b = 0): what threads wait for meanwhile, and who could end it. While nobody is at work nobody
 * can wake a thread that waits for an object; only input and output, sleep and time limits end by themselves
 * (docs/findings.md, "While nothing runs"). Pure.
 */
import { formatCount, formatEvents, formatNs } from '../wording/numbers.js';
import type { Material } from '../evidence/context.js';
import { costs, leastShare, meanwhileOf, shownId, systemCall, title } from '../evidence/context.js';
import { isLock } from './lock.js';
import { State } from '../profile/raw-profile.js';
import type { Entity, Finding } from '../types.js';

/** A thread woken by another one that does hardly anything in between is soon back: the gaps are what waking takes. */
const shortWaitNs = 500_000;

export interface Waiting { entity: Entity; threads: number } // on average over the time in which nothing ran

/** Most threads first; groups stand for their members. */
export function waitingAtRest({ model, levels }: Material): Waiting[] {
  const rest = model.balance.nothingRanNs;
  const waiting: Waiting[] = [];
  for (const [id, { blocked }] of levels.waits) {
    const ns = blocked.get(0) ?? 0;
    if (shownId(model, id) === id && rest > 0 && ns > 0) waiting.push({ entity: model.entities[id]!, threads: ns / rest });
  }
  return waiting.sort((a, b) => b.threads - a.threads);
}

const most = 3, leastTold = 0.25;

/** "2 at condition room, 1 at lock m" */
export function waitingText(material: Material, waiting: readonly Waiting[]): string {
  return waiting.filter(({ threads }) => threads >= leastTold).slice(0, most)
    .map(({ entity, threads }) => `${formatCount(threads)} at ${title(material.model, entity.id)}`).join(', ');
}

/** "1 in read": the calls of the system in which threads slept. */
export function sleepersText(material: Material): string {
  const { tuples } = material.model.raw;
  const calls = new Map<string, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const call = tuples.state[k] === State.io && tuples.busy[k] === 0 ? systemCall(material, tuples.stack[k]!) : '';
    if (call !== '') calls.set(call, (calls.get(call) ?? 0) + tuples.ns[k]! / material.model.balance.nothingRanNs);
  }
  return [...calls].filter(([, threads]) => threads >= leastTold).sort((a, b) => b[1] - a[1]).slice(0, most)
    .map(([call, threads]) => `${formatCount(threads)} in ${call}`).join(', ');
}

/** Threads that something holds up: not those that wait for the end of others, or sleep. */
export const isHeldUp = ({ entity }: Waiting): boolean => entity.rawKind !== 'join' && entity.rawKind !== 'sleep';

/** Of the time in which nothing ran: during how much of it nobody was in input or output, or slept. */
function unendedNs({ model, levels }: Material): number {
  const { tuples } = model.raw;
  let ending = 0;
  for (let k = 0; k < tuples.ns.length; k++) if (tuples.busy[k] === 0 && tuples.state[k] === State.io) ending += tuples.ns[k]!;
  for (const [id, { blocked }] of levels.waits)
    if (model.entities[id]!.rawKind === 'sleep' && model.entities[id]!.members.length === 0) ending += blocked.get(0) ?? 0;
  return Math.max(0, model.balance.nothingRanNs - ending);
}

/** All threads wait for objects, and nobody is there to wake them: a time limit that has to run out, again and again. */
export function tellRest(material: Material): Finding[] {
  const { model, least } = material;
  const cost = unendedNs(material);
  if (cost < Math.max(least, 2 * leastShare * model.elapsedNs) || cost < model.balance.nothingRanNs / 2) return [];
  const held = waitingAtRest(material).filter((one) => isHeldUp(one) && one.threads >= leastTold);
  // Where the waits are short, or the holder of a lock may be outside all that is seen, nothing is known.
  const known = held.filter(({ entity }) => !isLock(entity) && entity.object?.counted && entity.object.contended > 0);
  const [first] = [...known].sort((a, b) => a.entity.object!.waitMeanNs - b.entity.object!.waitMeanNs);
  if (!first || known.some(({ entity }) => entity.object!.waitMeanNs < shortWaitNs)) return [];
  const waits = known.slice(0, most).map(({ entity }) => `${title(model, entity.id)} ${formatEvents(entity.object!.contended)} times, ${formatNs(entity.object!.waitMeanNs)} each`).join('; ');
  return [{
    entity: known[0]!.entity.id, name: known[0]!.entity.name, kind: 'dependency', change: 'wait-less',
    text: `Nothing runs during ${costs(model, cost)}: all threads wait, ${waitingText(material, held)}, and none is at work that could wake them. ` +
      `So a wait that has a time limit has to run out (or a signal, or another program, ends it). Threads waited for ${waits}.`,
    remedy: `Find out who should wake whom there: a wait with a time limit whose condition nobody signals, or signals too late. Woken in time, up to ${formatNs(cost)} would go.`,
    costNs: cost, savingNs: cost, meanwhile: meanwhileOf(model.processors, 0, 0), related: held.map(({ entity }) => entity.id).filter((id) => id !== known[0]!.entity.id),
  }];
}
