/**
 * Builds the model from a profile; docs/reference/model.md gives the order of the steps and the formulas. Pure
 * functions.
 */
import { addAt, f64, item, u16, u32 } from './profile/columns.js';
import { fewerSnapshots } from './evidence/fewer-snapshots.js';
import type { RawProfile } from './profile/raw-profile.js';
import { State } from './profile/raw-profile.js';
import { runnableRange } from './profile/buckets.js';
import { effortOf } from './metrics/effort.js';
import { overheadOf } from './metrics/overhead.js';
import { Calls } from './metrics/call-counts.js';
import { factorsOf, weightsOf } from './metrics/compensation.js';
import { setByPace } from './evidence/threads/sleep-pace.js';
import { cpuWaitOf } from './metrics/cpu-wait.js';
import { cpuLimitsOf } from './metrics/cpu-limits.js';
import { kernelUsageOf } from './metrics/kernel-usage.js';
import { slowdownOf } from './metrics/slowdown.js';
import { BuiltEntity, nameOfRoot, Shared } from './metrics/entity.js';
import { relatedCpusOf, withoutRelated } from './evidence/related-processes.js';
import { withPathsInStep } from './evidence/undisturbed/paths-in-step.js';
import { isDisturbed, undisturbed } from './evidence/undisturbed/undisturbed.js';
import { endsWithin, isLock, isMeeting } from './evidence/wait-kinds.js';
import { findingsOf, findingContextOf } from './findings/rank.js';
import { boundByWhatIf } from './path/what-if-bound.js';
import { noticesOf, recordingNotices } from './notices/index.js';
import { independentSnapshots } from './metrics/confidence.js';
import { namingOf } from './metrics/naming.js';
import type { Tables } from './metrics/tables.js';
import { rememberTables, tablesOf } from './metrics/tables.js';
import type { Objects } from './metrics/sync-objects.js';
import { rowsBy } from './profile/row-index.js';
import { isCode, withoutCode } from './profile/code-scopes.js';
import { joinStacks } from './profile/joined-stacks.js';
import { prepareStacks } from './profile/stack-tree.js';
import type { Sums } from './metrics/sums.js';
import { stateCount, sumTuples } from './metrics/sums.js';
import type { Balance, Entity, Model, ModelOptions } from './result/types.js';

/** `before`: the profile as it was recorded, if `recorded` was derived from it. */
export function buildModel(recorded: RawProfile, options: ModelOptions = {}, before = recorded): Model {
  const full = joinStacks(recorded),
    measured = before === recorded ? full : joinStacks(before);
  const whole = withoutCode(full, 'code-line');
  const raw = withoutCode(whole, 'code-loop');
  const naming = namingOf(raw);
  const { context, compensation } = tablesFor({ full, whole, raw }, naming, options, measured);
  const shared = new Shared(raw, context, independentSnapshots(raw.head));
  const entities = entitiesOf(shared, raw, naming);
  const root = item(entities, 0);
  const effortNs = root.processorTimeNs + root.idlenessNs + root.spinBlameNs;
  const effort = effortOf(raw, root, context.overhead, context.weights);
  const elapsedNs = raw.head.elapsedNs;
  const cpuLimits = cpuLimitsOf(raw);
  const cpuWait = cpuWaitOf(raw, cpuLimits, before);
  let reported: Pick<Model, 'findings' | 'notices'> | undefined;
  let notices: Model['notices'] | undefined;
  let ranking: number[] | undefined;
  let slowdown: Model['slowdown'] | undefined;
  const model: Model = {
    head: raw.head,
    program: root.name,
    processors: raw.head.processors,
    usable: withoutRelated(raw).head.processors,
    relatedCpus: relatedCpusOf(raw),
    elapsedNs,
    samples: raw.head.snapshots,
    rateHz: elapsedNs > 0 ? raw.head.snapshots / (elapsedNs / 1e9) : 0,
    fewer: fewerSnapshots(raw),
    root,
    entities,
    balance: balanceOf(raw),
    timeline: timelineOf(raw),
    effortNs,
    idlenessPercent: percentOf(root.idlenessNs, effortNs),
    overheadPercent: percentOf(effort?.overheadNs ?? 0, effortNs),
    spinPercent: percentOf(root.spinBlameNs, effortNs),
    effort,
    compensation,
    cpuWait,
    cpuLimits,
    kernelUsage: kernelUsageOf(raw),
    raw,
    // Parts that a screen may never show are computed at first use.
    get slowdown() {
      return (slowdown ??= slowdownOf(raw, root, cpuWait));
    },
    get ranking() {
      return (ranking ??= rank(entities, context.sums, shared.objects));
    },
    get findings() {
      return (reported ??= reportOn(model, context, options)).findings;
    },
    get notices() {
      return (notices ??= [...(reported ??= reportOn(model, context, options)).notices, ...recordingNotices(model)]);
    },
  };
  rememberTables(model, context);
  return model;
}

const percentOf = (ns: number, wholeNs: number): number => (wholeNs > 0 ? (100 * ns) / wholeNs : 0);

/** The sums over the tuples. `whole`: the profile without code lines; `raw`: without loops as well. */
function tablesFor(
  { full, whole, raw }: { full: RawProfile; whole: RawProfile; raw: RawProfile },
  { groups, groupOf }: ReturnType<typeof namingOf>,
  options: ModelOptions,
  measured: RawProfile,
): { context: Tables; compensation: Model['compensation'] } {
  const count = groupOf.length + groups.length;
  const stacks = prepareStacks(raw, groupOf, count);
  const byStack = rowsBy(raw.tuples.stack, stacks.count);
  const factors = factorsOf(raw, stacks, options.compensate !== false);
  const { ns: weights, compensation } = weightsOf(raw, stacks, factors);
  const all = raw === whole ? stacks : prepareStacks(whole, groupOf, count);
  const lined = whole === full ? all : prepareStacks(full, groupOf, count);
  const byLine = raw === full ? byStack : rowsBy(full.tuples.stack, lined.count);
  const context: Tables = {
    entities: count,
    stacks,
    byStack,
    weights,
    overhead: overheadOf(raw, stacks),
    sums: sumTuples(full, lined, byLine, groupOf, weights, count),
    groupOf,
    calls: new Calls(raw.calls, groupOf, count),
    loops: { raw: whole, stacks: all },
    places: { raw, loops: { raw: whole, stacks: all } },
    lines: { raw: full, stacks: lined },
    measured: measured === full ? raw : withoutCode(withoutCode(measured, 'code-line'), 'code-loop'),
  };
  return { context, compensation };
}

/** The entities of the profile, followed by groups of entities of the same name. */
function entitiesOf(
  shared: Shared,
  raw: RawProfile,
  { names, groups, groupOf }: ReturnType<typeof namingOf>,
): Entity[] {
  const none: number[] = [];
  const single = (id: number): Entity => {
    const name = id === 0 ? nameOfRoot(raw) : item(names, id);
    return new BuiltEntity(shared, item(raw.entities, id), id, name, none, u32(groupOf, id));
  };
  const entities = Array.from({ length: groupOf.length }, (_, id) => single(id));
  for (const members of groups) {
    const first = item(members, 0);
    entities.push(new BuiltEntity(shared, item(raw.entities, first), entities.length, item(names, first), members, 0));
  }
  return entities;
}

/**
 * What findings are computed from: if other programs kept the program waiting for CPUs, an estimate of what it would
 * have shown without them.
 */
export function basisOf(model: Model, tables: Tables, options: ModelOptions): { model: Model; tables: Tables } {
  const its = withoutRelated(model.raw);
  if (its !== model.raw) {
    model = buildModel(its, options);
    tables = tablesOf(model);
  }
  if (isDisturbed(model)) {
    const { entities, raw } = model;
    model = buildModel(
      undisturbed(raw, {
        isLock: (id) => isLock(item(entities, id)),
        endsWithin: (id) => endsWithin(item(entities, id)),
        meets: (id) => isMeeting(item(entities, id)),
      }),
      options,
      raw,
    );
    tables = tablesOf(model);
  }
  const inStep = withPathsInStep(model.raw);
  if (inStep !== model.raw) {
    model = buildModel(inStep, options, tables.measured);
    tables = tablesOf(model);
  }
  return { model, tables };
}

function reportOn(shown: Model, whole: Tables, options: ModelOptions): Pick<Model, 'findings' | 'notices'> {
  if (shown.samples === 0 || shown.elapsedNs === 0) return { findings: [], notices: [{ form: 'no-snapshot' }] };
  const { model, tables } = basisOf(shown, whole, options);
  const { places } = whole; // those that are derived from it have no loops
  const context = findingContextOf(model, { ...tables, places });
  // if a pace sets how long the run takes, no change of its work makes it shorter
  const findings = setByPace(context) === 0 ? findingsOf(context) : [];
  boundByWhatIf(model, findings);
  return { findings, notices: noticesOf(context, findings) };
}

/** Ranks of entities by cost. Groups stand for their members; the root is left out. */
function rank(entities: readonly Entity[], { npt, nptSelf, stateNs }: Sums, { waitNs }: Objects): number[] {
  const waited = new Float64Array(entities.length);
  const ids: number[] = [];
  for (const { id, group, rawKind } of entities) {
    if (id === 0 || group !== 0 || isCode(rawKind)) continue;
    ids.push(id);
    waited[id] =
      rawKind === 'procedure' || rawKind === 'thread'
        ? f64(stateNs, id * stateCount + State.blocked - 1)
        : f64(waitNs, id);
  }
  return ids.sort(
    (a, b) =>
      f64(npt, b) - f64(npt, a) || f64(nptSelf, b) - f64(nptSelf, a) || f64(waited, b) - f64(waited, a) || a - b,
  );
}

function balanceOf(raw: RawProfile): Balance {
  const { balance, head } = raw;
  const byBusyNs = new Float64Array(head.processors + 1);
  const bySpinningNs = new Float64Array(head.processors + 1);
  const runnable = new Map<number, number>();
  let busyNs = 0,
    overheadNs = 0,
    spinningNs = 0,
    elapsed = 0,
    runnableNs = 0;
  for (let k = 0; k < balance.ns.length; k++) {
    const ns = f64(balance.ns, k);
    addAt(byBusyNs, Math.min(head.processors, u16(balance.busy, k)), ns);
    addAt(bySpinningNs, Math.min(head.processors, u16(balance.spinning, k)), ns);
    busyNs += u16(balance.busy, k) * ns;
    spinningNs += u16(balance.spinning, k) * ns;
    overheadNs += f64(balance.overheadNs, k);
    runnableNs += f64(balance.runnableNs, k);
    elapsed += ns;
    runnable.set(u32(balance.runnable, k), (runnable.get(u32(balance.runnable, k)) ?? 0) + ns);
  }
  return {
    usefulNs: busyNs - overheadNs,
    overheadNs,
    spinningNs,
    idleNs: Math.max(0, head.processors * elapsed - busyNs - spinningNs),
    nothingRanNs: f64(byBusyNs, 0),
    byBusyNs,
    bySpinningNs,
    meanRunnable: elapsed > 0 ? runnableNs / elapsed : 0,
    runnable: [...runnable].sort((a, b) => a[0] - b[0]).map(([lower, ns]) => ({ ...runnableRange(lower), ns })),
    meanBusy: elapsed > 0 ? busyNs / elapsed : 0,
  };
}

function timelineOf(raw: RawProfile): Model['timeline'] {
  const t = raw.timeline;
  return Array.from(t.ns, (ns, k) => ({
    startNs: f64(t.startNs, k),
    ns,
    usefulNs: f64(t.usefulNs, k),
    overheadNs: f64(t.overheadNs, k),
    spinningNs: f64(t.spinningNs, k),
    idleNs: f64(t.idleNs, k),
    meanRunnable: ns > 0 ? f64(t.runnableNs, k) / ns : 0,
    snapshots: u32(t.snapshots, k),
    top: u32(t.top, k),
  }));
}
