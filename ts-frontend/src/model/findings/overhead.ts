/** Limits by the thread package's own work, or by waking threads: grain too fine (docs/findings.md, "Overhead"). Pure. */
import { formatEvents, formatNs } from '../wording/numbers.js';
import { againRemedy, againText, waitsAgain } from '../notices/thundering-herd.js';
import { addTo } from '../evidence/activity-levels.js';
import type { Material } from '../evidence/context.js';
import { costs, meanwhileOf, meanwhileText, shownId, title } from '../evidence/context.js';
import { placeOf } from '../metrics/naming.js';
import { State, Waiting } from '../profile/raw-profile.js';
import type { Finding } from '../types.js';

/** Ten times coarser grain leaves a tenth of the overhead. */
const coarser = 10;

export function tellOverhead({ model, working, least }: Material): Finding[] {
  const { stacks, weights } = working;
  const { tuples } = model.raw;
  let cost = 0, busy = 0, spinning = 0, useful = 0;
  const byEntity = new Map<number, number>();
  for (let k = 0; k < weights.length; k++) {
    if (tuples.state[k] === State.useful) useful += weights[k];
    if (tuples.state[k] !== State.overhead) continue;
    const b = Math.max(1, tuples.busy[k]);
    const npt = weights[k] / b;
    cost += npt;
    busy += npt * b;
    spinning += npt * tuples.spinning[k];
    for (let n = tuples.stack[k]; n !== 0; n = stacks.parent[n]) if (stacks.first[n]) addTo(byEntity, stacks.entity[n], npt);
  }
  const savingNs = cost * (1 - 1 / coarser);
  if (savingNs < least) return [];
  // The innermost entity with half of it; idle loops of the package have no stack and count for nobody.
  const known = Math.max(0, ...byEntity.values());
  const id = shownId(model, [...byEntity].filter(([, npt]) => npt >= known / 2).sort((a, b) => a[1] - b[1])[0]?.[0] ?? 0);
  const entity = model.entities[id]!;
  const meanwhile = meanwhileOf(model.processors, busy / cost, spinning / cost);
  const { spawns, switches } = model.head;
  const events = spawns > 0 && spawns >= switches / 10
    ? `; ${formatEvents(spawns)} ${spawns === 1 ? 'thread was' : 'threads were'} created, for ${formatNs(useful / spawns)} of work each`
    : switches > 0 ? `; there ${switches === 1 ? 'was 1 switch' : `were ${formatEvents(switches)} switches`} between threads, one for ${formatNs(useful / switches)} of work` : '';
  const grain = entity.kind === 'procedure' || entity.kind === 'thread' || entity.kind === 'join'
    ? 'Make the grain coarser: more work for each thread' : `Do more work for each use of ${title(model, id)}`;
  return [{
    entity: id, name: entity.name, kind: 'overhead', change: 'coarsen',
    text: `Creating, scheduling and switching threads costs ${costs(model, cost)}, most of it for ${title(model, id)}${events}. Meanwhile ${meanwhileText(model, meanwhile)}.`,
    remedy: `${grain}; ${coarser} times coarser would save ${formatNs(savingNs)}.`,
    costNs: cost, savingNs, meanwhile, related: [],
  }];
}

/** Less work than this for each wait is not worth waking a thread for. */
const shortWaitNs = 10_000;
/** Procedures of run-time libraries that wait and wake. */
const wakes = /pthread_|lll_|futex|sem_post|sem_wait|notify_one|notify_all|condition_variable/;

/**
 * Kernel threads that hand on too little at a time: they are woken so often that there is little work for each wait. What
 * that takes is the time of threads that have been woken, as far as nobody else has the CPUs, and of the calls that wake.
 */
export function tellWakes({ model, working, own, least }: Material): Finding[] {
  if (model.head.publisher !== 'pthread') return [];
  let waits = 0;
  const byObject = new Map<number, number>();
  for (const { id, object, members, rawKind } of model.entities) {
    if (!object?.counted || members.length > 0 || rawKind === 'sleep' || rawKind === 'join' || rawKind === 'loop' || rawKind === 'spinlock') continue;
    waits += object.contended;
    addTo(byObject, shownId(model, id), object.contended);
  }
  const workNs = model.cpuWait.runNs > 0 ? model.cpuWait.runNs : model.root.processorTimeNs;
  const condition = model.entities.find((entity) => waitsAgain(model, entity) > 0);
  if (waits === 0 || (!condition && workNs / waits >= shortWaitNs)) return [];
  const { stacks, weights } = working;
  const { tuples } = model.raw;
  let cost = 0, busy = 0, spinning = 0;
  for (let k = 0; k < weights.length; k++) {
    if (tuples.state[k] !== State.useful || weights[k] === 0) continue;
    const node = tuples.stack[k];
    if (tuples.waiting[k] !== Waiting.woken && !(own.hidden[node] && wakes.test(model.entities[stacks.entity[node]]!.name))) continue;
    const b = Math.max(1, tuples.busy[k]);
    cost += weights[k] / b;
    busy += weights[k];
    spinning += (weights[k] / b) * tuples.spinning[k];
  }
  const savingNs = cost * (1 - 1 / coarser);
  if (savingNs < least) return [];
  const most = [...byObject].sort((a, b) => b[1] - a[1]).map(([id]) => id);
  const others = most.slice(1, 3).filter((id) => byObject.get(id)! >= waits / 10);
  const meanwhile = meanwhileOf(model.processors, busy / cost, spinning / cost);
  return [{
    entity: most[0]!, name: model.entities[most[0]!]!.name, kind: 'overhead', change: 'coarsen',
    text: `Threads wait, and are woken, very often: ${formatEvents(waits)} times, once for ${formatNs(workNs / waits)} of processor time, most often at ${[most[0]!, ...others].map((id) => title(model, id)).join(' and ')}. ` +
      `Waking takes ${costs(model, cost)}; meanwhile ${meanwhileText(model, meanwhile)}.` +
      (condition ? ` Of these ${againText(model, condition, waitsAgain(model, condition))}.` : ''),
    remedy: `${condition ? againRemedy.replace('wake', 'Wake') : 'Pass on more at a time (larger pieces, more room in a queue), or signal only who waits'}; ten times fewer wake-ups would save ${formatNs(savingNs)}.`,
    costNs: cost, savingNs, meanwhile, related: [...others, ...(condition && condition.id !== most[0] && !others.includes(condition.id) ? [condition.id] : [])],
  }];
}

/** What making, starting and ending a kernel thread takes at least; it is told where that is a twentieth of the work. */
const makingNs = 10_000, shortLifeNs = 20 * makingNs;

/** Kernel threads that live for hardly any work. What each costs beyond the least (a stack, cold caches) is not known. */
export function tellThreads({ model }: Material): Finding[] {
  const { spawns } = model.head;
  const { root } = model;
  if (model.head.publisher !== 'pthread' || spawns === 0 || root.processorTimeNs / spawns >= shortLifeNs) return [];
  const cost = Math.min(1, (spawns * makingNs) / root.processorTimeNs) * root.nptNs;
  const savingNs = cost * (1 - 1 / coarser);
  const made = new Map<number, number>();
  for (const { id, kind, members, instances } of model.entities) if (kind === 'thread' && members.length === 0) addTo(made, shownId(model, id), instances);
  const [most] = [...made].sort((a, b) => b[1] - a[1]);
  const entity = model.entities[most?.[0] ?? 0]!;
  const place = placeOf(entity.file, entity.line);
  return [{
    entity: entity.id, name: entity.name, kind: 'overhead', change: 'coarsen',
    text: `Threads are made for hardly any work: ${formatEvents(spawns)} of them, one for ${formatNs(root.processorTimeNs / spawns)} of processor time, most of them ${entity.name}${place === '' ? '' : ` (${place})`}. ` +
      `To make, start and end one takes ${formatNs(makingNs)} or more, so that costs at least ${costs(model, cost)}.`,
    remedy: `Make fewer, with more work for each (larger pieces, or a few threads that take one piece after the other); ${coarser} times fewer would save ${formatNs(savingNs)} or more.`,
    costNs: cost, savingNs, meanwhile: meanwhileOf(model.processors, model.balance.meanBusy, model.balance.spinningNs / Math.max(1, model.elapsedNs)), related: [],
  }];
}
