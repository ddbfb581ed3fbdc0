/** Compares a model with the answers of its program; returns every deviation as one line. */
import { independentSnapshots, type Entity, type Model } from '../../ts-frontend/src/model/index.js';
import { truthOf, truthOfQueue } from './oracle/look-up.js';
import { npt, parallelize, total, type TrueEntity, type Truth } from './oracle/truth.js';
import type { Amount, Answers, Which } from './answers.js';

/** Half-widths of a 95 % interval that an estimate may be off: two make four standard errors. */
const halves = 2;
/**
 * Slack of the programs themselves, as a share of elapsed time (of the value itself where that is above 1): late
 * wake-ups, start and end of threads.
 */
const slack = 0.02;
/** What an instant more or less at either end makes: rounding, and visits that follow the reading of the clock. */
const instant = 0.002;

const text = (which: Which): string =>
  which.kind === 'root' ? 'root' : `${which.kind || 'entity'} ${which.name || `of line ${which.line}`}`;

const matches = (entity: Entity, which: Which): boolean =>
  (which.kind === '' || entity.kind === which.kind) &&
  (which.name !== '' ? entity.name === which.name : entity.line === which.line);

/** The one entity that an answer means; a group of namesakes stands for its members. */
function find(model: Model, which: Which): Entity | undefined {
  if (which.kind === 'root') return model.root;
  const found = model.entities.filter(
    (entity) => entity.id !== model.root.id && entity.group === 0 && matches(entity, which),
  );
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

/** What the trace says of the same. */
const trueShares: Record<string, (e: TrueEntity) => number> = {
  npt: (e) => npt(e.byBusyNs),
  self: (e) => npt(e.byBusySelfNs),
  T: (e) => total(e.byBusyNs),
  idleness: (e) => e.idlenessNs,
  spinblame: (e) => e.spinBlameNs,
  parallelize: (e) => parallelize(e.byBusyNs),
  overhead: (e) => e.states.overhead,
  useful: (e) => e.states.useful,
  spinning: (e) => e.states.spinning,
  ready: (e) => e.states.ready,
  blocked: (e) => e.states.blocked,
  io: (e) => e.states.io,
};

/**
 * Half-width of the 95 % interval for the mean of a number from 0 to `most` that n independent snapshots look at: its
 * variance is at most mean * (most - mean). At least what one snapshot makes.
 */
function halfWidth(mean: number, most: number, n: number): number {
  return 1.96 * Math.sqrt(Math.max(mean * (most - mean), (most * most) / Math.max(1, n)) / Math.max(1, n));
}

/** The metric where it is a time or a mean: as a share of elapsed time, or plain. Undefined: it is a count. */
function timed(model: Model, entity: Entity, metric: string): number | undefined {
  const indexed = /^T(\d+)$/.exec(metric);
  if (indexed) return ((entity.byBusyNs[Number(indexed[1]) - 1] ?? NaN) * Number(indexed[1])) / model.elapsedNs;
  if (shares[metric]) return shares[metric](entity) / model.elapsedNs;
  return plain[metric]?.(entity);
}

/** Instants at which the sampler had no CPU, as a part of all: what happened then cannot be known. */
const missed = ({ head: { skippedTicks, snapshots } }: Model): number =>
  skippedTicks / Math.max(1, skippedTicks + snapshots);

/**
 * How far sampling may take such a value from the truth: two half-widths, and as much as can have been at instants
 * missed.
 */
function samplingError(model: Model, entity: Entity, metric: string, truth: number): number {
  // The waiter's clock is read a little before and after the changes; in between it may wait for a CPU.
  if (metric === 'wait') return model.cpuWait.waitNs / model.elapsedNs;
  const n = independentSnapshots(model.head);
  const P = model.processors;
  if (metric === 'parallelism') {
    // from 1 to P, seen while the entity was busy
    return halves * halfWidth(truth - 1, P - 1, (n * entity.nptNs) / model.elapsedNs) + missed(model) * (P - 1);
  }
  const indexed = /^T(\d+)$/.exec(metric);
  const most = indexed
    ? Number(indexed[1])
    : /^(npt|self|parallelize)$/.test(metric)
      ? 1
      : /^(T|useful|overhead|spinning|idleness|spinblame)$/.test(metric)
        ? P
        : // one, where they are that many
          model.entities.filter((one) => one.kind === 'thread' && one.members.length === 0).length;
  return halves * halfWidth(truth, most, n) + missed(model) * most;
}

/**
 * The part of the run in which a processor waited for a CPU, by the kernel's count, which leaves out the last eighth of
 * a run (docs/reference/metrics.md, section 6); or the CPUs themselves stood still (a virtual machine's): then the
 * sampler misses instants.
 */
function disturbance(model: Model): number {
  return model.cpuWait.waitNs / (7 / 8) / model.elapsedNs + missed(model);
}
/** More than this, and the program did not do what its head says: only the estimates are judged. */
const mostDisturbance = 0.02;

/**
 * How far the truth of a run may be from what its program would do on CPUs of its own. Each ns that a processor waits
 * for a CPU makes that processor, and up to all others, do something else for a ns.
 */
function lateness(model: Model, metric: string, truth: number): number {
  const indexed = /^T(\d+)$/.exec(metric);
  // One that wakes late is idle for so long; so may all be but the one that wakes them.
  const many = indexed
    ? Number(indexed[1])
    : /^(T|useful|idleness)$/.test(metric)
      ? model.processors - 1
      : /^(spinblame|spinning|wait)$/.test(metric)
        ? model.processors / 4
        : 1;
  return (
    (slack * Math.max(1, Math.abs(truth), many) + disturbance(model) * model.processors) * (metric in plain ? 2 : 1)
  );
}

/** What the metric is, and how far it may be from the program's answer. */
export function measure(
  model: Model,
  entity: Entity,
  metric: string,
  answer: number,
): { value: number; tolerance: number } {
  const value = timed(model, entity, metric);
  if (value !== undefined)
    return { value, tolerance: samplingError(model, entity, metric, answer) + lateness(model, metric, answer) };
  if (exact[metric]) return { value: exact[metric](entity), tolerance: 0 };
  throw new Error(`no metric is called ${metric}`);
}

/** The same metric from the trace: from `low` to `high`, which differ only where the trace does not say all. */
function trueValue(
  model: Model,
  truth: Truth,
  entity: Entity,
  metric: string,
): { low: number; high: number } | undefined {
  const parts = entity.members.length > 0 ? entity.members.map((id) => model.entities[id]!) : [entity];
  let low = 0;
  let high = 0;
  let useful = 0;
  for (const part of parts) {
    const one = truthOf(truth, model, part);
    if (!one) return undefined;
    const indexed = /^T(\d+)$/.exec(metric);
    const queueNs = truthOfQueue(truth, model, part) ?? 0;
    // A waiter's own measure ends when it has a processor again; a holder's path counts from when it has the lock.
    const interval =
      metric === 'wait'
        ? [queueNs + one.states.spinning, queueNs + one.states.spinning + one.states.ready + one.states.overhead]
        : metric === 'hold'
          ? [one.states.useful + one.states.overhead, one.states.useful + one.states.overhead + one.states.ready]
          : undefined;
    const ns = indexed
      ? (one.byBusyNs[Number(indexed[1]) - 1] ?? NaN)
      : metric === 'parallelism'
        ? total(one.byBusyNs)
        : metric === 'runnable'
          ? one.usefulRunnableNs
          : metric === 'queue'
            ? queueNs + one.states.spinning
            : interval
              ? 0
              : trueShares[metric]?.(one);
    if (ns === undefined) return undefined;
    low += interval?.[0] ?? ns;
    high += interval?.[1] ?? ns;
    useful += metric === 'parallelism' ? npt(one.byBusyNs) : metric === 'runnable' ? one.states.useful : 0;
  }
  const over =
    metric === 'parallelism' || metric === 'runnable'
      ? useful
      : metric === 'queue'
        ? (entity.object?.queueObservedNs ?? NaN)
        : model.elapsedNs;
  return { low: low / over, high: high / over };
}

function wrong({ relation, value: truth }: Amount, value: number, tolerance: number): boolean {
  switch (relation) {
    case '=':
      return !(Math.abs(value - truth) <= tolerance);
    case '<':
      return !(value < truth);
    case '<=':
      return !(value <= truth);
    case '>':
      return !(value > truth);
    case '>=':
      return !(value >= truth);
  }
}

const shown = (value: number): string => String(Math.round(value * 1e4) / 1e4);

/** Whether the answer is a time that the machine's other work can shift. */
const shifts = ({ metric, value }: Amount): boolean => !exact[metric] && !(metric === 'wait' && value === 0);

export const hasTimes = (answers: Answers): boolean =>
  !answers.untraced &&
  (answers.nothingRan !== undefined || answers.amounts.some(({ amounts }) => amounts.some(shifts)));

type Say = (line: string) => void;
function finder(model: Model, say: Say): (which: Which) => Entity | undefined {
  return (which) => {
    const entity = find(model, which);
    if (!entity) {
      const alike = model.entities.filter((e) => e.name === which.name || which.kind === e.kind);
      say(
        `${text(which)}: not there, or not alone; there is ` +
          (alike.map((e) => `${e.kind} ${e.name} (line ${e.line})`).join(', ') || 'none like it'),
      );
    }
    return entity;
  };
}

/**
 * Times: each estimate must agree with the exact trace of the same run, within its own interval (else it is in
 * `estimates`); and the trace with the program's answer, within what the kernel says that the program had to wait for
 * CPUs (else it is in `run`). Not all that delays a program is counted by its kernel: a virtual machine's CPU may wake
 * late.
 */
export function timesOff(
  model: Model,
  truth: Truth,
  answers: Answers,
): { estimates: string[]; run: string[]; calm: boolean } {
  const lines = { estimates: [] as string[], run: [] as string[], calm: disturbance(model) <= mostDisturbance };
  const say = (line: string): void => {
    lines.estimates.push(line);
  };
  const need = finder(model, say);
  const { calm } = lines;
  for (const { which, amounts } of answers.amounts.map((one) => ({ ...one, amounts: one.amounts.filter(shifts) }))) {
    const entity = amounts.length > 0 ? need(which) : undefined;
    for (const amount of entity ? amounts : []) {
      const { metric, value: answer, relation } = amount;
      const value = timed(model, entity!, metric)!;
      const right = trueValue(model, truth, entity!, metric);
      if (!right) {
        say(`${text(which)}: the trace does not know its ${metric}`);
        continue;
      }
      const error = samplingError(model, entity!, metric, right.high);
      if (!(value >= right.low - error - instant && value <= right.high + error + instant)) {
        say(
          `${text(which)}: ${metric} is ${shown(value)}, in the trace ` +
            `${shown(right.low)}${right.high > right.low ? ` to ${shown(right.high)}` : ''}, within ${shown(error)}`,
        );
      }
      const late = lateness(model, metric, answer);
      const far =
        relation === '='
          ? !(answer >= right.low - late && answer <= right.high + late)
          : wrong(amount, relation.startsWith('>') ? right.high + late : right.low - late, 0);
      if (calm && far) {
        lines.run.push(
          `${text(which)}: in the trace, ${metric} is ${shown(right.low)}, must be ${relation} ${answer} within ` +
            shown(late),
        );
      }
    }
  }
  if (answers.nothingRan !== undefined) {
    const share = model.balance.nothingRanNs / model.elapsedNs;
    const right = truth.byBusyNs[0]! / model.elapsedNs;
    const error = halves * halfWidth(right, 1, independentSnapshots(model.head)) + missed(model);
    if (Math.abs(share - right) > error + instant)
      say(`nothing ran for ${shown(share)}, in the trace ${shown(right)}, within ${shown(error)}`);
    const late = lateness(model, 'blocked', answers.nothingRan);
    if (calm && Math.abs(right - answers.nothingRan) > late)
      lines.run.push(
        `in the trace, nothing ran for ${shown(right)}, must be ${answers.nothingRan} within ${shown(late)}`,
      );
  }
  return lines;
}

/**
 * What no other work on the machine can move: counts, names, orders, findings, and bounds. Where the sampler was kept
 * from looking, its intervals may be too wide for an order: that is in `undecided`, unless it is clearly the wrong one.
 */
export function deviations(model: Model, answers: Answers): { wrong: string[]; undecided: string[] } {
  const lines: string[] = [],
    undecided: string[] = [];
  const say = (line: string): void => {
    lines.push(line);
  };
  const need = finder(model, say);
  if (model.processors !== answers.processors) say(`P is ${model.processors}, not ${answers.processors}`);
  for (const { which, amounts } of answers.amounts) {
    const entity = need(which);
    if (!entity) continue;
    for (const amount of amounts.filter((one) => answers.untraced || !shifts(one))) {
      const { value, tolerance } = measure(model, entity, amount.metric, amount.value);
      if (wrong(amount, value, tolerance)) {
        say(
          `${text(which)}: ${amount.metric} is ${shown(value)}, must be ${amount.relation} ${amount.value}` +
            (tolerance > 0 && amount.relation === '=' ? ` within ${shown(tolerance)}` : ''),
        );
      }
    }
  }
  for (const amount of answers.head) {
    const value = (model.head as unknown as Record<string, unknown>)[amount.metric];
    if (typeof value !== 'number') throw new Error(`the head has no number ${amount.metric}`);
    if (wrong(amount, value, 0)) say(`head: ${amount.metric} is ${value}, must be ${amount.relation} ${amount.value}`);
  }
  for (const { metric, falling } of answers.orders) {
    for (let k = 1; k < falling.length; k++) {
      const more = need(falling[k - 1]!);
      const less = need(falling[k]!);
      if (!more || !less) continue;
      const of = shares[metric];
      if (!of) throw new Error(`cannot order by ${metric}`);
      const halfOf = (e: Entity): number => (e.ci95.highNs - e.ci95.lowNs) / 2;
      const apart = halfOf(more) + halfOf(less);
      if (!(of(more) - of(less) > apart)) {
        const open = disturbance(model) > mostDisturbance && of(less) - of(more) <= apart;
        (open ? undecided : lines).push(
          `order: ${metric} of ${text(falling[k - 1]!)} (${shown(of(more) / model.elapsedNs)}) is not clearly above ` +
            `that of ${text(falling[k]!)} (${shown(of(less) / model.elapsedNs)})`,
        );
      }
    }
  }
  const findings = model.findings.map((finding) => ({
    kind: finding.kind,
    entity: model.entities[finding.entity]!,
    others: finding.othersMayCause,
  }));
  const certain = findings.filter((one) => !one.others);
  const reported =
    findings.map((one) => `${one.kind} ${one.entity.kind} ${one.entity.name}`).join('; ') || 'no findings';
  for (const { place, kind, entity } of answers.findings) {
    const fits = (one: (typeof findings)[number] | undefined): boolean =>
      one !== undefined && one.kind === kind && (entity === undefined || matches(one.entity, entity));
    // What the report itself says that other programs may have caused says nothing about this one.
    const holds =
      place === 'first'
        ? fits(findings[0]) || fits(certain[0]) || (findings.length > 0 && certain.length === 0)
        : place === 'some'
          ? findings.some(fits)
          : !certain.some(fits);
    if (!holds) say(`${place} finding: ${kind}${entity ? ` ${text(entity)}` : ''}; the report has: ${reported}`);
  }
  const procedure = (name: string): Which => ({ kind: 'procedure', name, line: 0 });
  for (const { caller, callee, count } of answers.calls) {
    const from = need(procedure(caller));
    if (!from) continue;
    const counted = from.callees
      .filter((edge) => {
        const to = model.entities[edge.entity]!;
        return to.name === callee && to.kind !== 'thread' && to.members.length === 0;
      })
      .reduce((sum, edge) => sum + edge.count, 0);
    if (counted !== count) say(`calls ${caller} -> ${callee}: ${counted}, not ${count}`);
  }
  for (const { callee, callers } of answers.callers) {
    const to = need(procedure(callee));
    if (!to) continue;
    const names = [
      ...new Set(to.callers.map((edge) => (edge.entity === 0 ? '(unknown)' : model.entities[edge.entity]!.name))),
    ].sort();
    if (names.join() !== callers.join()) say(`callers of ${callee}: ${names.join(', ')}, not ${callers.join(', ')}`);
  }
  for (const { which, procedure: name, share } of answers.holders) {
    const object = need(which)?.object;
    if (!object) continue;
    const all = object.holders.reduce((sum, row) => sum + row.ns, 0);
    const its = object.holders
      .filter((row) => row.path.some((id) => model.entities[id]!.name === name))
      .reduce((sum, row) => sum + row.ns, 0);
    if (!(Math.abs(its / all - share) <= 0.05))
      say(`${name} held ${which.name} for ${(its / all).toFixed(3)} of its waits, not ${share}`);
  }
  for (const name of answers.absent) {
    if (
      model.entities.some((entity) => entity.name === name && entity.kind === 'procedure' && entity.processorTimeNs > 0)
    )
      say(`${name} has samples`);
  }
  return { wrong: lines, undecided };
}
