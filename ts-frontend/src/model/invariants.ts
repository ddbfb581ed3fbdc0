/**
 * The invariants of docs/reference/metrics.md, section 5, applied to the raw numbers (compensation deliberately
 * subtracts time). Returns one line for each violation, and for advice in opposite directions
 * (docs/reference/findings.md). Integers are summed in doubles: the tolerance covers only rounding, and one nanosecond
 * per tuple where the sampler had to divide. Pure.
 */
import { isCode } from './profile/code-scopes.js';
import { f64, u16, u32, u8 } from './profile/columns.js';
import { contradictions } from './evidence/advice.js';
import { isBuilt, tablesOf } from './metrics/tables.js';
import { State } from './profile/raw-profile.js';
import { basisOf, buildModel } from './build-model.js';
import type { Entity, Finding, Model } from './result/types.js';
import { checkSpan } from './path/span-invariants.js';
import { checkViews } from './views/check.js';

/** Collects violations. */
class Checks {
  readonly broken: string[] = [];
  constructor(readonly slack: number) {}
  same(what: string, a: number, b: number): void {
    if (!(Math.abs(a - b) <= this.slack)) this.broken.push(`${what}: ${a} ns and ${b} ns`);
  }
  atMost(what: string, a: number, b: number): void {
    if (!(a <= b + this.slack)) this.broken.push(`${what}: ${a} ns > ${b} ns`);
  }
}

export function checkInvariants(model: Model): string[] {
  const raw = model.raw;
  const plain = model.compensation.applied || !isBuilt(model) ? buildModel(raw, { compensate: false }) : model;
  const check = new Checks(1e-9 * Math.max(1, plain.elapsedNs * plain.processors));
  const busyNs = checkBalance(plain, check);
  checkSums(plain, busyNs, check);
  for (const entity of plain.entities) checkEntity(plain, entity, check);
  checkTimeline(plain, check);
  checkPath(plain, check);
  checkRecentPath(plain, check);
  checkInstructions(plain, check);
  checkFindings(model, check);
  const advising = [...model.findings, ...model.notices.filter((notice) => 'advice' in notice)];
  return [...check.broken, ...checkSpan(raw), ...contradictions(advising), ...checkViews(plain, check.slack)];
}

/** Returns the processor time at work according to the balance. */
function checkBalance(plain: Model, check: Checks): number {
  const { root, processors: P, elapsedNs, raw } = plain;
  const { balance } = raw;
  let elapsed = 0,
    atWork = 0,
    idle = 0,
    area = 0,
    busy = 0;
  for (let k = 0; k < balance.ns.length; k++) {
    const b = u16(balance.busy, k),
      s = u16(balance.spinning, k),
      ns = f64(balance.ns, k);
    if (b + s > P) check.broken.push(`balance: ${b} busy and ${s} spinning processors of ${P}`);
    elapsed += ns;
    busy += b * ns;
    area += P * ns;
    if (b >= 1) {
      atWork += ns;
      idle += (P - b - s) * ns;
    }
  }
  check.same('time covered by the balance and elapsed time', elapsed, elapsedNs);
  check.same('1. NPT of the root and time with a busy processor', root.nptNs, atWork);
  check.atMost('1. NPT of the root within elapsed time', root.nptNs, elapsedNs);
  const b = plain.balance;
  check.same(
    '4. processor time in all states and processors times elapsed',
    b.usefulNs + b.overheadNs + b.spinningNs + b.idleNs,
    area,
  );
  check.same('5. idleness of the root and idle time while something ran', root.idlenessNs, idle);
  return busy;
}

/** Compares the sums over all entities and over all threads with the totals. `busyNs`: processor time at work. */
function checkSums(plain: Model, busyNs: number, check: Checks): void {
  const { root, raw } = plain;
  const { tuples } = raw;
  let self = root.nptSelfNs,
    byThread = 0,
    threadTime = 0,
    unowned = 0,
    unownedTime = 0;
  for (const entity of plain.entities) {
    if (entity.id === 0 || entity.members.length > 0) continue;
    if (entity.rawKind === 'thread') {
      byThread += entity.nptNs;
      threadTime += entity.processorTimeNs;
    } else if (!isCode(entity.rawKind)) self += entity.nptSelfNs; // a loop's time is also its procedure's
  }
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k);
    if (state !== State.useful && state !== State.overhead) continue;
    if (u16(tuples.busy, k) === 0) check.broken.push(`tuple ${k}: a thread at work while no processor is`);
    if (u32(tuples.thread, k) === 0) {
      unowned += f64(tuples.ns, k) / Math.max(1, u16(tuples.busy, k));
      unownedTime += f64(tuples.ns, k);
    }
  }
  check.same('2. sum of self NPT and NPT of the root', self, root.nptNs);
  check.same('2. sum over threads of NPT and NPT of the root', byThread + unowned, root.nptNs);
  check.same('3. processor time of the root and of the balance', root.processorTimeNs, busyNs);
  check.same(
    '3. sum over threads of processor time and that of the root',
    threadTime + unownedTime,
    root.processorTimeNs,
  );
}

function checkEntity({ root, processors: P }: Model, entity: Entity, check: Checks): void {
  check.atMost(`6. self NPT of ${label(entity)}`, entity.nptSelfNs, entity.nptNs);
  check.atMost(`6. NPT of ${label(entity)} and of the root`, entity.nptNs, root.nptNs);
  check.atMost(`6. T/P of ${label(entity)}`, entity.processorTimeNs / P, entity.nptNs);
  check.atMost(`6. NPT of ${label(entity)} and its T`, entity.nptNs, entity.processorTimeNs);
  check.same(
    `3. processor time of ${label(entity)} and its time useful and in overhead`,
    entity.processorTimeNs,
    entity.states.useful.ns + entity.states.overhead.ns,
  );
  if (entity.object) {
    const queue = entity.object.queueLength.reduce((sum, bucket) => sum + bucket.ns, 0);
    check.same(`queue of ${label(entity)}: time observed`, queue, entity.object.queueObservedNs);
  }
}

function checkTimeline({ processors: P, raw }: Model, check: Checks): void {
  for (let k = 0; k < raw.timeline.ns.length; k++) {
    const t = raw.timeline;
    check.same(
      `timeline, stretch ${k}`,
      f64(t.usefulNs, k) + f64(t.overheadNs, k) + f64(t.spinningNs, k) + f64(t.idleNs, k),
      P * f64(t.ns, k),
    );
  }
}

function checkPath({ elapsedNs, raw }: Model, check: Checks): void {
  if (raw.head.pathNs > 0) {
    const sum = (times: Float64Array): number => times.reduce((a, b) => a + b, 0);
    check.same('9. length of the time path and elapsed time', raw.head.pathNs, elapsedNs);
    check.same('9. sum over the segments of the time path and its length', sum(raw.segments.ns), raw.head.pathNs);
    check.same("9. sum of the time path's time by what was done and its length", sum(raw.onPath.ns), raw.head.pathNs);
    raw.segments.startNs.forEach((startNs, k) => {
      if (k > 0)
        check.same(
          `9. begin of segment ${k} and end of the one before`,
          startNs,
          f64(raw.segments.startNs, k - 1) + f64(raw.segments.ns, k - 1),
        );
    });
  }
}

/** Checks the recent paths: the path's end at several moments. */
function checkRecentPath({ elapsedNs, raw }: Model, check: Checks): void {
  const { recentPaths: rows, recentSegments: segments } = raw;
  rows.number.forEach((number, k) => {
    if (number === 0) return;
    const [first, ns] = [f64(rows.first, k), f64(rows.ns, k)];
    const sum = segments.ns.subarray(first, first + f64(rows.count, k)).reduce((a, b) => a + b, 0);
    check.same("9. sum over the segments of the path's end and its length", sum, ns);
    check.atMost("9. what of the path's end is not decided, and its length", f64(rows.undecidedNs, k), ns);
    check.atMost("9. the path's end and elapsed time", f64(rows.startNs, k) + ns, elapsedNs);
  });
}

/** The time at instructions is part of the threads' time. */
function checkInstructions({ root, raw }: Model, check: Checks): void {
  const sum = (times: Float64Array): number => times.reduce((a, b) => a + b, 0);
  const { ns, nptPs, spinNs } = raw.instructions;
  check.atMost('time of all instructions and processor time', sum(ns), root.processorTimeNs);
  check.atMost('NPT of all instructions and of the root', sum(nptPs) / 1000, root.nptNs);
  check.atMost('spinning of all instructions and of the root', sum(spinNs), root.states.spinning.ns);
}

/** Kinds of findings about code, whose cost is part of the code's own time. */
const ofCode: ReadonlySet<Finding['kind']> = new Set(['serial', 'optimize']);

/** What a finding says that a change could save. */
const savings: ReadonlySet<string> = new Set([
  'allNs',
  'aloneNs',
  'evenNs',
  'goesNs',
  'keptNs',
  'leastNs',
  'mostNs',
  'oneNs',
  'overlapNs',
  'savesNs',
  'spreadNs',
  'teamNs',
]);

/** All such times in the facts, with their names. */
const savingsIn = (facts: object): [string, number][] =>
  Object.entries(facts).flatMap(([name, value]: [string, unknown]): [string, number][] =>
    typeof value === 'number' && savings.has(name)
      ? [[name, value]]
      : typeof value === 'object' && value !== null && !Array.isArray(value)
        ? savingsIn(value)
        : [],
  );

/** Whether a finding says that its change also saves time of other work, beyond its cost. */
const savesMore = ({ form }: Finding['facts']): boolean => saveMore.has(form);
const saveMore: ReadonlySet<Finding['facts']['form']> = new Set([
  'oversubscription',
  'kernel-work',
  'process-starts',
  'serial',
]);

/**
 * No finding costs more than the run, or saves, or says that it could save, more than it costs; and code costs no more
 * than it has in what findings are computed from.
 */
function checkFindings(model: Model, check: Checks): void {
  if (model.findings.length === 0 || !isBuilt(model)) return;
  const { model: basis } = basisOf(model, tablesOf(model), { compensate: model.compensation.applied });
  for (const { kind, facts, entity: id, costNs, savingNs } of model.findings) {
    const entity = basis.entities[id];
    if (!entity) continue;
    const its = `11. finding ${facts.form} about ${label(entity)}`;
    check.atMost(`${its}: its cost and elapsed time`, costNs, model.elapsedNs);
    check.atMost(`${its}: its saving and its cost`, savingNs, costNs);
    for (const [name, ns] of savingsIn(facts))
      check.atMost(`${its}: its ${name} and its cost`, ns, savesMore(facts) ? model.elapsedNs : costNs);
    if (ofCode.has(kind) && facts.form !== 'allocation' && entity.kind === 'procedure' && id !== 0)
      check.atMost(`${its}: its cost and its NPT`, costNs, entity.nptNs);
  }
}

function label(entity: Entity): string {
  return `${entity.kind} ${entity.name} (${entity.id})`;
}
