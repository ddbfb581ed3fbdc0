/**
 * What limits the program, in at most three findings. Lost parallelism has two sides, the code that ran and the threads
 * that waited; each piece of it is explained once: first by locks and by input and output, whose waiters could have run,
 * then by the code that ran. Formulas: docs/findings.md. Pure.
 */
import { prepareContexts } from './contexts.js';
import { formatEvents, formatNs, formatShare } from './format.js';
import type { Levels } from './levels.js';
import { busyOf, measureLevels } from './levels.js';
import { tellCode } from './limits-code.js';
import { ioLoss, tellIo } from './limits-io.js';
import type { IoLoss } from './limits-io.js';
import type { LockLoss } from './limits-objects.js';
import { lockLosses, tellLocks, tellSpinning } from './limits-objects.js';
import { tellOptimize, tellOverhead } from './limits-overhead.js';
import type { Material } from './limits.js';
import { leastObservations, leastShare } from './limits.js';
import { State } from './raw.js';
import type { Working } from './model.js';
import type { Finding, Model, Notice } from './types.js';

export const findingsKept = 3;

export function findingsOf(model: Model, working: Working): { findings: Finding[]; notices: Notice[] } {
  const notices: Notice[] = [];
  const { samples, elapsedNs } = model;
  if (samples === 0 || elapsedNs === 0) {
    notices.push({ reason: 'no snapshot was taken: the program ended before the sampler saw it at work', remedy: 'let it run longer, or raise --rate' });
    return { findings: [], notices };
  }
  const levels = measureLevels(model.raw, working.stacks, working.groupOf);
  const material: Material = {
    model, working, levels, least: Math.max(leastShare, leastObservations / samples) * elapsedNs,
  };
  const losses = lockLosses(material);
  const io = ioLoss(material);
  const contexts = prepareContexts(model.raw, working.stacks, working.weights, unexplainedOf(model, working, levels, losses, io));
  const limits = [
    ...tellLocks(material, losses), ...tellSpinning(material), ...tellIo(material, io),
    ...tellCode(material, contexts), ...tellOverhead(material),
  ].filter((finding) => (finding.kind === 'serial' ? finding.costNs : finding.savingNs) >= material.least).sort((a, b) => b.savingNs - a.savingNs || b.costNs - a.costNs);
  const findings = limits.slice(0, findingsKept);
  if (findings.length < findingsKept) findings.push(...tellOptimize(material, new Set(findings.flatMap((one) => [one.entity, ...one.related]))));
  addNotices(model, material, findings, notices);
  return { findings, notices };
}

/**
 * For each tuple, the part of its loss that locks and input/output do not explain. Inside a lock it is the time
 * without waiters. Elsewhere it is what remains, at that level, when the loss explained inside locks is taken off.
 */
function unexplainedOf(model: Model, working: Working, levels: Levels, losses: readonly LockLoss[], io: IoLoss): Float64Array {
  const { tuples } = model.raw;
  const { stacks, weights } = working;
  const P = levels.P;
  const out = new Float64Array(weights.length).fill(1);
  const single = losses.filter((loss) => model.entities[loss.entity]!.members.length === 0 && loss.cost > 0);
  const byLock = new Map(single.map((loss) => [loss.entity, loss]));
  if (byLock.size === 0 && io.saving === 0) return out;

  // The innermost contended lock of each stack.
  const lockOf = new Uint32Array(stacks.count);
  for (let n = 1; n < stacks.count; n++) lockOf[n] = byLock.has(stacks.entity[n]) ? stacks.entity[n] : lockOf[stacks.parent[n]];

  const isBusy = (k: number): boolean => tuples.state[k] === State.useful || tuples.state[k] === State.overhead;
  const levelOf = (k: number): number => Math.min(P, Math.max(1, tuples.busy[k])) * (P + 1) + tuples.spinning[k];
  const held = new Map<string, number>(); // lock and level -> processor time in it
  for (let k = 0; k < weights.length; k++) {
    const lock = lockOf[tuples.stack[k]];
    if (lock !== 0 && isBusy(k)) held.set(`${lock} ${levelOf(k)}`, (held.get(`${lock} ${levelOf(k)}`) ?? 0) + weights[k]);
  }
  const explained = new Map<number, number>(); // level -> loss explained by locks and io
  for (const loss of single) for (const [level, ns] of loss.savingAt) explained.set(level, (explained.get(level) ?? 0) + ns);
  for (const [level, ns] of io.savingAt) explained.set(level, (explained.get(level) ?? 0) + ns);

  const inside = new Map<number, number>();
  for (let k = 0; k < weights.length; k++) {
    const lock = lockOf[tuples.stack[k]];
    if (lock === 0 || !isBusy(k)) continue;
    const level = levelOf(k), b = busyOf(levels, level);
    const part = Math.min(1, (byLock.get(lock)!.timeAt.get(level) ?? 0) / Math.max(1, held.get(`${lock} ${level}`) ?? 0));
    out[k] = 1 - part;
    inside.set(level, (inside.get(level) ?? 0) + weights[k] * (1 / b - 1 / P) * part);
  }
  const rest = new Map<number, number>();
  for (const [level, ns] of explained) {
    const lost = (levels.elapsed.get(level) ?? 0) * (1 - busyOf(levels, level) / P);
    const within = inside.get(level) ?? 0;
    rest.set(level, lost > within ? Math.min(1, Math.max(0, ns - within) / (lost - within)) : 0);
  }
  for (let k = 0; k < weights.length; k++)
    if (isBusy(k) && lockOf[tuples.stack[k]] === 0) out[k] = 1 - (rest.get(levelOf(k)) ?? 0);
  return out;
}

function addNotices(model: Model, material: Material, findings: readonly Finding[], notices: Notice[]): void {
  const { samples, elapsedNs, balance, raw } = model;
  if (samples < 100)
    notices.push({
      reason: `only ${formatEvents(samples)} snapshots in ${formatNs(elapsedNs)}: shares are known to ± ${formatShare(1 / Math.sqrt(samples))} at best`,
      remedy: 'let the program run longer, or raise --rate',
    });
  if (!raw.entities.some((entity, id) => id > 0 && entity.kind === 'procedure'))
    notices.push({ reason: 'no procedure was recorded: the program was compiled without hooks', remedy: 'compile it with the flags that `quartz cflags` prints' });
  if (balance.nothingRanNs >= 0.2 * elapsedNs) {
    let asleep = 0;
    for (const entity of model.entities) if (entity.rawKind === 'sleep' && entity.members.length === 0) asleep += entity.states.blocked.ns;
    if (!findings.some((finding) => finding.kind === 'io'))
      notices.push({
        reason: `during ${formatNs(balance.nothingRanNs)} of ${formatNs(elapsedNs)} (${formatShare(balance.nothingRanNs / elapsedNs)}) nothing ran` +
          (asleep >= balance.nothingRanNs / 2 ? ': threads slept' : ''),
        remedy: asleep >= balance.nothingRanNs / 2 ? 'sleeping is no contention: if it is not wanted, sleep less' : 'see the states of the threads (quartz threads) for what they waited for',
      });
  }
  if (findings.length === 0)
    notices.push({
      reason: `nothing that would save ${formatShare(material.least / elapsedNs)} of the elapsed time stands out: ${formatShare(model.effortNs > 0 ? model.root.processorTimeNs / model.effortNs : 0)} of the effort is work`,
      remedy: 'see the table of procedures for where the rest goes',
    });
}

