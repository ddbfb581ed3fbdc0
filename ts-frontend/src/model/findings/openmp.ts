/**
 * Findings about the run-time libraries of OpenMP and TBB: tasks, loop chunks and parallel regions that are too small
 * for the cost of distributing them (docs/reference/findings.md, "Overhead"). Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { defined, f64, item, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, largerPieces, processorUseOf, noAdvice, shownId } from '../evidence/context.js';
import { isOwn } from '../evidence/code-origin.js';
import { isFor } from '../evidence/purposes.js';
import { isLock, isTeamRest } from '../evidence/wait-kinds.js';
import { mainThread } from '../evidence/threads/critical-threads.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import { isNameless } from '../metrics/public-names.js';
import { State } from '../profile/raw-profile.js';
import { rowsOfKey } from '../profile/row-index.js';
import { isBusy } from '../metrics/sums.js';
import type { OpenMpFacts } from '../result/facts.js';
import type { Entity, Finding, Model } from '../result/types.js';
import type { Candidate } from './candidate.js';

/** The assumed improvement: ten times larger pieces leave a tenth of the cost. */
const larger = 10;
/** The least share of the elapsed time that is reported. */
const leastPart = 0.1;

const isTbb = (entity: Entity): boolean => isFor(entity, Purpose.tbbLibrary);
/** Whether it is TBB's template code in the program; only if callees and inlined code are known. */
const isTemplate = (entity: Entity): boolean =>
  entity.origin === 'standard' && entity.missing === 'nothing' && isFor(entity, Purpose.tbbCode);

/**
 * The library procedure that the program called; 0 if the innermost code of the stack does not belong to such a
 * library. TBB's library calls the program's tasks and looks for others in between: only what the tasks call is
 * certainly work.
 */
function calledAt({ model, tables, own }: FindingContext, node: number): number {
  const { stacks } = tables;
  const entityAt = (n: number): Entity => item(model.entities, u32(stacks.entity, n));
  let called = 0,
    n = node;
  for (; n !== 0 && u8(own.hidden, n) && entityAt(n).origin !== 'standard'; n = u32(stacks.parent, n))
    if (entityAt(n).origin === 'openmp') called = u32(stacks.entity, n);
  if (n !== 0 && (called === 0 ? n === node : isTbb(item(model.entities, called))))
    return isTemplate(entityAt(n)) || (called !== 0 && isFor(entityAt(n), Purpose.tbbCode))
      ? called || u32(stacks.entity, n)
      : 0;
  return called;
}

/**
 * Whether the node is in the library, in what it calls of other libraries, or in its templates: an upper bound of what
 * can be saved.
 */
function isAnyOf(context: FindingContext, node: number): boolean {
  const entity = item(context.model.entities, u32(context.tables.stacks.procedure, node));
  return entity.origin === 'openmp' || isFor(entity, Purpose.tbbCode) || calledAt(context, node) !== 0;
}

/** The outermost procedure of a path. */
function outermostAt({ tables: { stacks } }: FindingContext, node: number): number {
  let root = node;
  while (u32(stacks.parent, root) !== 0) root = u32(stacks.parent, root);
  return u32(stacks.entity, root);
}

/**
 * The owner of the pieces: the nearest procedure that belongs to no library. None for a library's own thread: its paths
 * begin with main, which made it, but it is not main's work that it waits for.
 */
function ownerAt(context: FindingContext, node: number, thread: number): number {
  const { model, tables, own } = context;
  const nearest = u32(own.owner, node);
  // a lock that is held there is no owner
  const owner = isLock(item(model.entities, nearest)) ? u32(own.procedure, node) : nearest;
  const isMain = thread === mainThread(model)?.id;
  if (!isMain && owner !== u32(tables.stacks.entity, node) && owner === outermostAt(context, node)) return 0;
  if (item(model.entities, owner).origin !== 'standard') return owner;
  for (let n = node; n !== 0; n = u32(tables.stacks.parent, n)) {
    const entity = item(model.entities, u32(tables.stacks.entity, n));
    if (entity.kind === 'procedure' && isOwn(entity) && !isNameless(entity)) return entity.id;
  }
  return 0;
}

interface Teams {
  cost: number;
  busy: number;
  spinning: number;
  owners: Map<number, number>;
  calls: Map<number, number>;
  fetched: number; // part of the cost: what others than main call
  tbb: number; // part of the cost
}

/**
 * Whether critical sections and locks are recorded as such (docs/reference/pthread-layer.md), so that findings about
 * locks report them: a call that takes one then has it on its path.
 */
function areLocksRecorded({ model, tables: { stacks } }: FindingContext): boolean {
  for (let node = 1; node < stacks.entity.length; node++) {
    const parent = u32(stacks.parent, node);
    if (parent === 0 || item(model.entities, u32(stacks.entity, parent)).rawKind !== 'mutex') continue;
    if (isFor(item(model.entities, u32(stacks.entity, node)), Purpose.exclusion)) return true;
  }
  return false;
}

const measured = new WeakMap<FindingContext, Teams>();
/** The library's own work, and the time in which all runnable threads waited for each other in it. */
function teamsOf(context: FindingContext): Teams {
  let teams = measured.get(context);
  if (!teams) measured.set(context, (teams = measure(context)));
  return teams;
}

function measure(context: FindingContext): Teams {
  const { model, tables } = context;
  const { tuples } = model.raw;
  const locksRecorded = areLocksRecorded(context),
    main = mainThread(model)?.id;
  const teams: Teams = { cost: 0, busy: 0, spinning: 0, owners: new Map(), calls: new Map(), fetched: 0, tbb: 0 };
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k),
      b = u16(tuples.busy, k),
      s = u16(tuples.spinning, k),
      ns = f64(tables.weights, k);
    if (tuples.state[k] === State.useful && b > 0) {
      const called = calledAt(context, node);
      if (called === 0 || (locksRecorded && isFor(item(model.entities, called), Purpose.exclusion))) continue;
      teams.cost += ns / b;
      teams.busy += ns;
      teams.spinning += (ns / b) * s;
      addTo(teams.owners, shownId(model, ownerAt(context, node, u32(tuples.thread, k))), ns / b);
      if (isTbb(item(model.entities, called)) || isTemplate(item(model.entities, called))) teams.tbb += ns / b;
      if (!isFor(item(model.entities, called), Purpose.teamCall)) continue;
      addTo(teams.calls, shownId(model, called), ns / b);
      if (u32(tuples.thread, k) !== main) teams.fetched += ns / b;
    } else if (
      tuples.state[k] === State.spinning &&
      b === 0 &&
      s > 0 &&
      item(model.entities, u32(tables.stacks.entity, node)).origin === 'openmp'
    ) {
      teams.cost += ns / s;
      teams.spinning += ns;
      addTo(
        teams.owners,
        shownId(model, ownerAt(context, u32(tables.stacks.parent, node), u32(tuples.thread, k))),
        ns / s,
      );
    }
  }
  return teams;
}

/** On average, handing out the work of a region, or a barrier, takes less than this. */
const longestRound = 1e6;
/** Tasks and pieces of loops are fetched by calls of all threads; these take at least this share of their cost. */
const leastFetched = 0.05;
/**
 * Whether the samples may show small pieces. Where the pieces are whole regions, how often that happens is known: if it
 * was seldom, what the library executes is waiting that was not recognized.
 */
function mayBeSmall({ cost, fetched }: Teams, { raw }: Model): boolean {
  const rounds = raw.cpuLimits.rounds[0] ?? 0;
  return rounds === 0 || fetched >= leastFetched * cost || cost <= rounds * longestRound;
}

const isMuch = (teams: Teams, { model, least }: FindingContext): boolean =>
  teams.busy >= least && teams.cost >= leastPart * model.elapsedNs && mayBeSmall(teams, model);

/** Whether code runs in the library for at least half of its time, if that is reported as a finding. */
export function handsOver(context: FindingContext): (members: readonly number[]) => boolean {
  if (!isMuch(teamsOf(context), context)) return () => false;
  const { tables, model } = context;
  return (members) => {
    let all = 0,
      inside = 0;
    for (const node of members) {
      let ns = 0;
      for (const k of rowsOfKey(tables.byStack, node))
        if (isBusy(u8(model.raw.tuples.state, k))) ns += f64(tables.weights, k);
      all += ns;
      if (ns > 0 && calledAt(context, node) !== 0) inside += ns;
    }
    return inside >= all / 2;
  };
}

const most = 3;

/** What the library is used for, by the calls with most of the time. */
function useOf({ entities }: Model, calls: ReadonlyMap<number, number>): OpenMpFacts['use'] {
  let all = 0,
    exclusion = 0,
    order = 0;
  for (const [id, ns] of calls) {
    all += ns;
    // Acquiring and releasing its locks, and waiting for them in ways not recognized as waiting.
    if (isFor(item(entities, id), Purpose.exclusion)) exclusion += ns;
    if (isFor(item(entities, id), Purpose.order)) order += ns;
  }
  return exclusion > all / 2 ? 'exclusion' : order > all / 2 ? 'order' : 'pieces';
}

export function openmpFindings(context: FindingContext): Finding[] {
  const { model } = context;
  const teams = teamsOf(context);
  if (!isMuch(teams, context)) return [];
  const { cost } = teams;
  const ranked = (map: Map<number, number>): number[] => [...map].sort((a, b) => b[1] - a[1]).map(([id]) => id);
  const id = ranked(teams.owners).find((one) => one !== 0) ?? 0;
  const calls = ranked(teams.calls)
    .filter((one) => defined(teams.calls.get(one)) >= cost / 20)
    .slice(0, most);
  const savingNs = cost * (1 - 1 / larger);
  const use = useOf(model, teams.calls);
  const { idealNs } = withoutWaiting(context, (k) => isAnyOf(context, u32(model.raw.tuples.stack, k)));
  const mostNs = Math.max(savingNs, idealNs);
  return [
    findingOf(model, {
      entity: id,
      kind: 'overhead',
      change: 'coarsen',
      advice: use === 'pieces' ? largerPieces : noAdvice,
      costNs: Math.max(cost, mostNs),
      // Work that needs no order can be moved before the ordered region, so that no thread waits for its turn.
      savingNs: use === 'order' ? mostNs : (savingNs + mostNs) / 2,
      processorUse: processorUseOf(model.processors, teams.busy / cost, teams.spinning / cost),
      facts: {
        form: 'openmp',
        library: teams.tbb > cost / 2 ? 'TBB' : 'OpenMP',
        calls,
        use,
        waitsNs: 0,
        savesNs: savingNs,
        mostNs,
        coarser: larger,
      },
      related: calls,
    }),
  ];
}

/** One thread takes about as long as the team if it takes at most this much longer. */
const asLong = 1.05;

/**
 * What one thread that does all of the work would save, if the threads of a team wait for their next region while this
 * code runs: then the regions that there are gain less than the team costs, or hardly more (0). null: the team gains
 * something, or there is none.
 */
export function savedWithoutTeam(context: FindingContext, { waited }: Candidate): number | null {
  const { entities, raw, elapsedNs } = context.model;
  if (!waited || !isTeamRest(item(entities, waited.object))) return null;
  const { workNs, aloneNs } = withoutWaiting(context, (k) => isAnyOf(context, u32(raw.tuples.stack, k)));
  return workNs <= asLong * elapsedNs ? aloneNs : null;
}

/**
 * Waiting for the library's critical sections and locks, and the cost of acquiring them, have one cause: acquiring them
 * less often saves both. Their costs concern different times: work in the library, and processors that wait.
 */
export function joinExclusion({ entities, elapsedNs }: Model, findings: readonly Finding[]): Finding[] {
  const library = findings.find(({ facts }) => facts.form === 'openmp' && facts.use === 'exclusion');
  if (library?.facts.form !== 'openmp') return [...findings];
  const waits = findings.filter(
    ({ facts, entity }) =>
      (facts.form === 'lock' || facts.form === 'spinning') &&
      isFor(item(entities, entity), Purpose.teamCall) &&
      isFor(item(entities, entity), Purpose.exclusion),
  );
  for (const { costNs, savingNs, entity } of waits) {
    library.costNs = Math.min(elapsedNs, library.costNs + costNs);
    const part = (savingNs * (1 - 1 / larger)) / elapsedNs; // relative to what remains without the library's work
    const { facts } = library;
    facts.savesNs = Math.min(library.costNs, facts.savesNs + part * (elapsedNs - facts.savesNs));
    facts.mostNs = Math.max(facts.mostNs, facts.savesNs);
    library.savingNs = (facts.savesNs + facts.mostNs) / 2;
    library.facts.waitsNs += costNs;
    library.related.push(entity);
  }
  return findings.filter((one) => !waits.includes(one));
}
