/** Limits by input and output that is not overlapped with other work (docs/findings.md, "Input and output"). Pure. */
import { formatCount, formatNs } from './format.js';
import { addTo, busyOf, savedByRunning, spinningOf, waitAt } from './levels.js';
import type { Material } from './limits.js';
import { costs, meanwhileOf, meanwhileText, shownId, title } from './limits.js';
import { State } from './raw.js';
import type { Finding } from './types.js';

export interface IoLoss {
  savingAt: Map<number, number>; // by level
  timeAt: Map<number, number>;
  cost: number;
  saving: number;
  perTuple: (k: number) => number; // saving that one io tuple stands for
  counted: (k: number) => number;  // of its time, what the thread could have worked meanwhile
}

/**
 * A thread's input and output beside other work can only be overlapped with work of its own: a thread that does nothing
 * but wait for requests limits nothing. While nothing runs at all, any work of the program would do.
 */
export function ioLoss({ model, levels }: Material): IoLoss {
  const { tuples } = model.raw;
  const { P } = levels;
  const ioByThread = new Map<number, number>();
  const isIo = (k: number): boolean => tuples.state[k] === State.io;
  for (let k = 0; k < tuples.ns.length; k++) if (isIo(k)) addTo(ioByThread, tuples.thread[k], tuples.ns[k]);
  const own = (thread: number): number => Math.min(1, model.entities[thread]!.processorTimeNs / Math.max(1, ioByThread.get(thread) ?? 0));
  const counted = (k: number): number => tuples.ns[k] * (tuples.busy[k] === 0 ? 1 : own(tuples.thread[k]));

  const threadTime = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) if (isIo(k)) addTo(threadTime, tuples.busy[k] * (P + 1) + tuples.spinning[k], counted(k));
  const loss: IoLoss = { savingAt: new Map(), timeAt: new Map(), cost: 0, saving: 0, perTuple: () => 0, counted };
  let atRest = 0, beside = 0;
  for (const [level, ns] of threadTime) {
    const b = busyOf(levels, level), s = spinningOf(levels, level);
    const wait = waitAt(ns, levels.elapsed.get(level) ?? 0, 1);
    const saving = savedByRunning(wait, b, P - b - s);
    loss.savingAt.set(level, saving);
    loss.timeAt.set(level, b < P ? wait.time : 0);
    loss.cost += b < P ? wait.time : 0;
    if (b === 0) atRest += saving;
    else beside += saving;
  }
  // What was done while nothing ran can be overlapped with no more than what did run.
  loss.saving = Math.min(atRest, model.root.nptNs) + beside;
  loss.perTuple = (k) => {
    const level = tuples.busy[k] * (P + 1) + tuples.spinning[k];
    const total = threadTime.get(level) ?? 0;
    return isIo(k) && total > 0 ? (counted(k) / total) * (loss.savingAt.get(level) ?? 0) : 0;
  };
  return loss;
}

export function tellIo(material: Material, loss: IoLoss): Finding[] {
  const { model, working, levels, least, own } = material;
  if (loss.saving < least) return [];
  const { stacks } = working;
  const { tuples } = model.raw;
  // The innermost procedure with half of it or more; else the one with most.
  const byEntity = new Map<number, number>();
  const innermost = new Map<number, number>();
  let total = 0, threadTime = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const value = loss.perTuple(k);
    if (value <= 0) continue;
    total += value;
    threadTime += loss.counted(k);
    addTo(innermost, own.procedure[tuples.stack[k]], value);
    for (let n = tuples.stack[k]; n !== 0; n = stacks.parent[n])
      if (stacks.first[n] && own.hidden[n] === 0 && model.entities[stacks.entity[n]]!.kind === 'procedure') addTo(byEntity, stacks.entity[n], value);
  }
  const best = [...innermost].sort((a, b) => b[1] - a[1])[0];
  const half = [...byEntity].filter(([, value]) => value >= total / 2).sort((a, b) => a[1] - b[1])[0];
  const id = shownId(model, best && best[1] >= total / 2 ? best[0] : half?.[0] ?? best?.[0] ?? 0);
  let busy = 0, spinning = 0;
  for (const [level, time] of loss.timeAt) {
    busy += time * busyOf(levels, level);
    spinning += time * spinningOf(levels, level);
  }
  const cost = loss.cost;
  const meanwhile = meanwhileOf(model.processors, busy / cost, spinning / cost);
  const savingNs = Math.min(cost, loss.saving);
  const waiting = threadTime / cost;
  return [{
    entity: id, name: model.entities[id]!.name, kind: 'io', change: 'overlap-io',
    text: `Input and output in ${title(model, id)} take ${costs(model, cost)} that is not overlapped: ${formatCount(waiting)} ${waiting < 1.05 ? 'thread' : 'threads'} waited for it on average, and meanwhile ${meanwhileText(model, meanwhile)}.`,
    remedy: `Overlap it with computation (start it early, or give it a thread of its own); that could save up to ${formatNs(savingNs)}.`,
    costNs: cost, savingNs, meanwhile, related: [],
  }];
}
