/** Compares a model with the answers of its program; returns every deviation as one line. */
import { independentSnapshots, type Entity, type Model } from '../../ts-frontend/src/model/index.js';
import type { Amount, Answers, Which } from './answers.js';

/**
 * Slack for what the machine does to a program between its sleeps: late wake-ups, start and end of threads. A share of
 * elapsed time (of the value itself where that is above 1).
 */
const slack = 0.02;
/** The share of its instants that the sampler missed because it had no CPU: how short of CPUs the machine was in this very run. */
export function missedShare(model: Model): number {
  return model.head.skippedTicks / Math.max(1, model.head.skippedTicks + model.samples);
}

/** Half-widths of the 95 % interval that a value may be off: two make four standard errors. */
const halves = 2;

const text = (which: Which): string =>
  which.kind === 'root' ? 'root' : `${which.kind || 'entity'} ${which.name || `of line ${which.line}`}`;

const matches = (entity: Entity, which: Which): boolean =>
  (which.kind === '' || entity.kind === which.kind) &&
  (which.name !== '' ? entity.name === which.name : entity.line === which.line);

/** The one entity that an answer means; a group of namesakes stands for its members. */
function find(model: Model, which: Which): Entity | undefined {
  if (which.kind === 'root') return model.root;
  const found = model.entities.filter((entity) => entity.id !== model.root.id && entity.group === 0 && matches(entity, which));
  return found.length === 1 ? found[0] : undefined;
}

const shares: Record<string, (entity: Entity) => number> = {
  npt: (e) => e.nptNs,
  self: (e) => e.nptSelfNs,
  T: (e) => e.processorTimeNs,
  idleness: (e) => e.idlenessNs,
  spinblame: (e) => e.spinBlameNs,
  parallelize: (e) => e.parallelizeNs,
  overhead: (e) => e.overheadNs,
  useful: (e) => e.states.useful.ns,
  spinning: (e) => e.states.spinning.ns,
  ready: (e) => e.states.ready.ns,
  blocked: (e) => e.states.blocked.ns,
  io: (e) => e.states.io.ns,
  hold: (e) => e.object?.holdNs ?? NaN,
  wait: (e) => e.object?.waitNs ?? NaN, // exact
};
const plain: Record<string, (entity: Entity) => number> = {
  parallelism: (e) => e.parallelism,
  runnable: (e) => e.states.useful.meanRunnable,
  queue: (e) => e.object?.queueLengthMean ?? NaN,
};
const exact: Record<string, (entity: Entity) => number> = {
  calls: (e) => e.calls,
  acquisitions: (e) => e.object?.acquisitions ?? NaN,
  contended: (e) => e.object?.contended ?? NaN,
  instances: (e) => e.instances,
};

/** Half-width of the 95 % interval of a time that threads spend without a processor, from the snapshots' number alone. */
function binomial(size: number, model: Model): number {
  const threads = Math.max(1, Math.ceil(size));
  const p = size / threads;
  return 1.96 * threads * Math.sqrt((Math.max(p * (1 - p), 1 / Math.max(1, model.samples))) / Math.max(1, independentSnapshots(model.head)));
}

/** What the metric is, and how far it may be from the truth. */
export function measure(model: Model, entity: Entity, metric: string, truth: number): { value: number; tolerance: number } {
  const indexed = /^T(\d+)$/.exec(metric);
  const share = indexed
    ? (e: Entity): number => (e.byBusyNs[Number(indexed[1]) - 1] ?? NaN) * Number(indexed[1])
    : shares[metric];
  const halfNs = (entity.ci95.highNs - entity.ci95.lowNs) / 2;
  // Times of one entity have the relative error of its share of the samples.
  const relative = entity.nptNs > 0 ? halfNs / entity.nptNs : 0;
  const size = Math.abs(truth);
  const sampled = halves * (entity.nptNs > 0 && !/^(ready|blocked|io)$/.test(metric) ? relative * size : binomial(size, model));
  // Time of processors: while the machine is late to wake one, all of them may be in another state.
  // So may i of them that should have been at work together.
  const many = indexed ? Number(indexed[1]) : /^(idleness|spinblame|spinning|wait)$/.test(metric) ? model.processors / 4 : 1;
  // Where the sampler was not run, processors of the program were not either: as much as it missed may be another state.
  const late = slack + missedShare(model);
  if (share) return { value: share(entity) / model.elapsedNs, tolerance: sampled + late * Math.max(1, size, many) };
  if (plain[metric]) return { value: plain[metric](entity), tolerance: sampled + 2 * late * Math.max(1, size) };
  if (exact[metric]) return { value: exact[metric](entity), tolerance: 0 };
  throw new Error(`no metric is called ${metric}`);
}

function wrong({ relation, value: truth }: Amount, value: number, tolerance: number): boolean {
  switch (relation) {
    case '=': return !(Math.abs(value - truth) <= tolerance);
    case '<': return !(value < truth);
    case '<=': return !(value <= truth);
    case '>': return !(value > truth);
    case '>=': return !(value >= truth);
  }
}

const shown = (value: number): string => String(Math.round(value * 1e4) / 1e4);

export function deviations(model: Model, answers: Answers): string[] {
  const lines: string[] = [];
  const say = (line: string): void => { lines.push(line); };
  const need = (which: Which): Entity | undefined => {
    const entity = find(model, which);
    if (!entity) {
      const alike = model.entities.filter((e) => e.name === which.name || which.kind === e.kind);
      say(`${text(which)}: not there, or not alone; there is ${alike.map((e) => `${e.kind} ${e.name} (line ${e.line})`).join(', ') || 'none like it'}`);
    }
    return entity;
  };
  if (model.processors !== answers.processors) say(`P is ${model.processors}, not ${answers.processors}`);
  for (const { which, amounts } of answers.amounts) {
    const entity = need(which);
    if (!entity) continue;
    for (const amount of amounts) {
      const { value, tolerance } = measure(model, entity, amount.metric, amount.value);
      if (wrong(amount, value, tolerance)) {
        say(`${text(which)}: ${amount.metric} is ${shown(value)}, must be ${amount.relation} ${amount.value}` +
          (tolerance > 0 && amount.relation === '=' ? ` within ${shown(tolerance)}` : ''));
      }
    }
  }
  for (const amount of answers.head) {
    const value = (model.head as unknown as Record<string, unknown>)[amount.metric];
    if (typeof value !== 'number') throw new Error(`the head has no number ${amount.metric}`);
    if (wrong(amount, value, 0)) say(`head: ${amount.metric} is ${value}, must be ${amount.relation} ${amount.value}`);
  }
  if (answers.nothingRan !== undefined) {
    const value = model.balance.nothingRanNs / model.elapsedNs;
    const half = 1.96 * Math.sqrt(answers.nothingRan * (1 - answers.nothingRan) / Math.max(1, model.samples));
    if (Math.abs(value - answers.nothingRan) > halves * half + slack + missedShare(model)) say(`nothing ran for ${shown(value)}, not ${answers.nothingRan}`);
  }
  for (const { metric, falling } of answers.orders) {
    for (let k = 1; k < falling.length; k++) {
      const more = need(falling[k - 1]!);
      const less = need(falling[k]!);
      if (!more || !less) continue;
      const of = shares[metric];
      if (!of) throw new Error(`cannot order by ${metric}`);
      const halfOf = (e: Entity): number => (e.ci95.highNs - e.ci95.lowNs) / 2;
      if (!(of(more) - of(less) > halfOf(more) + halfOf(less))) {
        say(`order: ${metric} of ${text(falling[k - 1]!)} (${shown(of(more) / model.elapsedNs)}) is not clearly above that of ${text(falling[k]!)} (${shown(of(less) / model.elapsedNs)})`);
      }
    }
  }
  const findings = model.findings.map((finding) => ({ kind: finding.kind as string, entity: model.entities[finding.entity]! }));
  const told = findings.map((one) => `${one.kind} ${one.entity.kind} ${one.entity.name}`).join('; ') || 'no findings';
  for (const { place, kind, entity } of answers.findings) {
    const fits = (one: (typeof findings)[number] | undefined): boolean =>
      one !== undefined && one.kind === kind && (entity === undefined || matches(one.entity, entity));
    const holds = place === 'first' ? fits(findings[0]) : place === 'some' ? findings.some(fits) : !findings.some(fits);
    if (!holds) say(`${place} finding: ${kind}${entity ? ` ${text(entity)}` : ''}; the report has: ${told}`);
  }
  const procedure = (name: string): Which => ({ kind: 'procedure', name, line: 0 });
  for (const { caller, callee, count } of answers.calls) {
    const from = need(procedure(caller));
    if (!from) continue;
    const counted = from.callees
      .filter((edge) => { const to = model.entities[edge.entity]!; return to.name === callee && to.kind !== 'thread' && to.members.length === 0; })
      .reduce((sum, edge) => sum + edge.count, 0);
    if (counted !== count) say(`calls ${caller} -> ${callee}: ${counted}, not ${count}`);
  }
  for (const { callee, callers } of answers.callers) {
    const to = need(procedure(callee));
    if (!to) continue;
    const names = [...new Set(to.callers.map((edge) => (edge.entity === 0 ? '(unknown)' : model.entities[edge.entity]!.name)))].sort();
    if (names.join() !== callers.join()) say(`callers of ${callee}: ${names.join(', ')}, not ${callers.join(', ')}`);
  }
  for (const name of answers.absent) {
    if (model.entities.some((entity) => entity.name === name && entity.kind === 'procedure' && entity.processorTimeNs > 0)) say(`${name} has samples`);
  }
  return lines;
}
