/** Finds what limits a job (docs/reference/sets.md, "What limits a job"). Pure functions. */
import { addTo, item, type FindingKind } from '../../model/index.js';
import { coreTimeOf, rankOf, type LoadedSet } from '../views.js';
import {
  basisOf,
  callsOf,
  isExchange,
  leastShare,
  listed,
  meanOver,
  placeOf,
  sum,
  type Basis,
  type Delay,
} from './basis.js';
import { extraOf } from './extra.js';
import type { Code, Communication, Cpus, GroupSums, JobFinding, LateRanks, Varying, WithinRank } from './types.js';

/** Late ranks wait less than the others by at least this share of what they cost. */
const leastExcess = 0.5;
/** The share of a host's ranks that have to be late for the host to be named. */
const ofHost = 0.8;
const mostRanks = 4;
const mostCode = 3;

const none: GroupSums = new Map();

/** A group of ranks whose costs are compared with those of the rest. */
export interface Plan {
  basis: Basis;
  /** Ranks that are late throughout the run, or, if no rank waits for others, the one that ends last. */
  members: number[];
  late: boolean;
}

/**
 * Which ranks are late throughout the run: those that wait for others for less than the middle between the least and
 * the most, provided that this explains how long the others wait for them.
 */
export function planOf(set: LoadedSet): Plan {
  const basis = basisOf(set);
  const { waited, delays, count, jobNs, delayNs } = basis;
  if (count < 2) return { basis, members: [], late: false };
  if (delayNs / count < leastShare * jobNs) {
    const { ranks } = set;
    const last = ranks.reduce((a, b) => (b.elapsed_ns > a.elapsed_ns ? b : a));
    const meanNs = sum(ranks.map(({ elapsed_ns }) => elapsed_ns)) / count;
    const early = ranks.every(({ mpi_ns }) => mpi_ns === 0) && jobNs - meanNs >= leastShare * jobNs;
    return { basis, members: early ? [last.member] : [], late: false };
  }
  const middle = (waited.reduce((a, b) => Math.min(a, b)) + waited.reduce((a, b) => Math.max(a, b))) / 2;
  const caused = new Float64Array(count);
  for (const { cause, ns } of delays) caused[cause] = item(caused, cause) + ns;
  const members = set.ranks
    .map(({ member }) => member)
    .filter((member) => item(waited, member) < middle && item(caused, member) > 0);
  const costNs = sum(members.map((member) => item(caused, member))) / Math.max(1, count - members.length);
  const late = new Set(members);
  const others = set.ranks.map(({ member }) => member).filter((member) => !late.has(member));
  const excessNs = meanOver(waited, others) - meanOver(waited, members);
  const clear = members.length > 0 && others.length > 0 && excessNs >= leastExcess * costNs;
  return { basis, members: clear ? members : [], late: clear };
}

function hostOf({ ranks }: LoadedSet, members: readonly number[]): string | null {
  const { host } = item(ranks, members[0] ?? 0);
  const there = ranks.filter((rank) => rank.host === host).length;
  return members.length >= 2 &&
    there < ranks.length &&
    members.every((member) => item(ranks, member).host === host) &&
    members.length >= ofHost * there
    ? host
    : null;
}

function lateRanks({ basis, members, late }: Plan, sums: GroupSums): LateRanks[] {
  if (!late) return [];
  const { set, count, jobNs, waited, delays } = basis;
  const own = new Set(members);
  const caused = delays.filter(({ cause }) => own.has(cause));
  const delayNs = sum(caused.map(({ ns }) => ns));
  const waiting = count - members.length;
  const savingNs = delayNs / count;
  if (savingNs < leastShare * jobNs) return [];
  const others = set.ranks.map(({ member }) => member).filter((member) => !own.has(member));
  return [
    {
      kind: 'late-ranks',
      costNs: delayNs / waiting,
      savingNs,
      members: [...members],
      ranks: members.map((member) => rankOf(item(set.ranks, member))).slice(0, mostRanks),
      host: hostOf(set, members),
      waiting,
      ...listed(callsOf(basis, caused, waiting)),
      indirectNs: sum(caused.filter(({ late: direct }) => !own.has(direct)).map(({ ns }) => ns)) / waiting,
      sampled: basis.sampled,
      extra: extraOf(basis, members, sums, meanOver(waited, others) - meanOver(waited, members)),
    },
  ];
}

/** Waiting for ranks that are not late throughout the run. */
function varying({ basis, members, late }: Plan): Varying[] {
  const { count, jobNs, waited, delays } = basis;
  const own = new Set(late ? members : []);
  const rest: Delay[] = delays.filter(({ cause }) => !own.has(cause));
  const costNs = sum(rest.map(({ ns }) => ns)) / count;
  if (costNs < leastShare * jobNs) return [];
  const ofMessages = sum(
    rest.filter(({ pattern }) => pattern === 'late sender' || pattern === 'late receiver').map(({ ns }) => ns),
  );
  return [
    {
      kind: 'varying',
      costNs,
      savingNs: costNs,
      messages: ofMessages > 0.5 * costNs * count,
      atWork: count - sum(waited) / jobNs,
      ...listed(callsOf(basis, rest, count)),
    },
  ];
}

/** Time in calls that wait for messages and collectives, without the waits for late ranks; and start and end. */
function calls({ basis }: Plan): JobFinding[] {
  const { set, count, jobNs, delays, sampled } = basis;
  const waitedAt = new Map<number, number>();
  for (const { entity, ns } of delays) addTo(waitedAt, entity, ns / count);
  const found: JobFinding[] = [];
  const of = (wanted: (entity: number) => boolean): Communication['calls'] =>
    set.summary
      .filter(({ entity, alone_mean_ns }) => alone_mean_ns > 0 && wanted(entity))
      .map(({ entity, alone_mean_ns }) => ({
        call: placeOf(set, entity),
        ns: Math.max(0, alone_mean_ns - (waitedAt.get(entity) ?? 0)),
      }));
  const exchange = of((entity) => isExchange(item(set.entities, entity)));
  const exchangeNs = sum(exchange.map(({ ns }) => ns));
  if (exchangeNs >= leastShare * jobNs)
    found.push({
      kind: 'communication',
      costNs: exchangeNs,
      savingNs: exchangeNs,
      ...listed(exchange),
      sampled,
    });
  const start = of((entity) => item(set.entities, entity).waits_for === 'processes');
  const startNs = sum(start.map(({ ns }) => ns));
  if (startNs >= leastShare * jobNs)
    found.push({ kind: 'start-and-end', costNs: startNs, savingNs: null, calls: listed(start).calls });
  return found;
}

/** How long a rank waits for CPUs: its threads may wait at the same time, so at most what is left beside its work. */
const waitForCpus = ({ cpu_wait_ns, elapsed_ns, useful_ns, cpus }: LoadedSet['ranks'][number]): number =>
  Math.max(0, Math.min(cpu_wait_ns, elapsed_ns - useful_ns / Math.max(1, cpus)));

/** The rank that others wait for waits for CPUs. */
function cpus({ basis }: Plan): Cpus[] {
  const { set, jobNs, waited, count } = basis;
  const [first] = [...set.ranks].sort(
    (a, b) => item(waited, a.member) - item(waited, b.member) || b.cpu_wait_ns - a.cpu_wait_ns,
  );
  if (first === undefined) return [];
  const costNs = waitForCpus(first);
  if (costNs < leastShare * jobNs) return [];
  const there = set.ranks.filter(({ host }) => host === first.host);
  return [
    {
      kind: 'cpus',
      costNs,
      savingNs: costNs,
      rank: rankOf(first),
      host: first.host,
      meanNs: sum(set.ranks.map(waitForCpus)) / count,
      ranksOnHost: there.length,
      cpus: first.cpus,
    },
  ];
}

function lastRank({ basis, members, late }: Plan, sums: GroupSums): JobFinding[] {
  const { set, jobNs, count } = basis;
  const [member] = members;
  if (late || member === undefined) return [];
  const rank = item(set.ranks, member);
  const meanNs = sum(set.ranks.map(({ elapsed_ns }) => elapsed_ns)) / count;
  const longerNs = jobNs - (meanNs * count - jobNs) / (count - 1);
  return [
    {
      kind: 'last-rank',
      costNs: longerNs,
      savingNs: jobNs - meanNs,
      rank: rankOf(rank),
      host: rank.host,
      file: rank.file,
      endNs: jobNs,
      meanNs,
      extra: extraOf(basis, [member], sums, longerNs),
    },
  ];
}

/** Findings of processes that say what others here say for the job. */
const ofJob: ReadonlySet<string> = new Set<FindingKind>(['processes', 'optimize']);

/** What limits the rank that the others wait for, or the one with most work, within its process. */
function withinRank({ basis, members, late }: Plan): WithinRank[] {
  const { set, jobNs } = basis;
  const most = [...set.ranks].sort((a, b) => b.useful_ns - a.useful_ns)[0]?.member;
  const member = late && members.length > 0 ? members[0] : most;
  const row = set.findings
    .filter((one) => one.member === member && !ofJob.has(one.kind))
    .sort((a, b) => a.nth - b.nth)[0];
  if (member === undefined || row === undefined || row.cost_ns < leastShare * jobNs) return [];
  const rank = item(set.ranks, member);
  const { kind: finding, text: says, cost_ns: costNs } = row;
  return [{ kind: 'within-rank', costNs, savingNs: null, rank: rankOf(rank), file: rank.file, finding, says }];
}

function code({ basis }: Plan): Code[] {
  const { set } = basis;
  const core = coreTimeOf(set);
  const places = set.summary
    .filter(({ entity, self_core_ns }) => self_core_ns > 0 && item(set.entities, entity).kind === 'procedure')
    .map(({ entity, self_mean_ns, self_core_ns }) => ({
      place: placeOf(set, entity),
      ns: self_mean_ns,
      coreNs: self_core_ns,
      coreShare: self_core_ns / core,
    }))
    .filter(({ coreShare }) => coreShare >= leastShare)
    .sort((a, b) => b.coreNs - a.coreNs)
    .slice(0, mostCode);
  const [first] = places;
  return first === undefined ? [] : [{ kind: 'code', costNs: first.ns, savingNs: null, places }];
}

/** Findings of the whole job by saving, then what limits a rank within its process, then code by core time. */
export function jobFindings(plan: Plan, sums: GroupSums = none): JobFinding[] {
  const { basis } = plan;
  const savingOf = ({ savingNs }: JobFinding): number => savingNs ?? 0;
  const ofJob: JobFinding[] = [
    ...lateRanks(plan, sums),
    ...varying(plan),
    ...calls(plan),
    ...cpus(plan),
    ...lastRank(plan, sums),
  ].sort((a, b) => savingOf(b) - savingOf(a));
  const waits = ofJob.some(({ kind }) => kind === 'late-ranks' || kind === 'varying' || kind === 'last-rank');
  const balanced: JobFinding[] =
    waits || basis.count < 2 ? [] : [{ kind: 'balanced', costNs: basis.delayNs / basis.count, savingNs: 0 }];
  return [...ofJob, ...balanced, ...withinRank(plan), ...code(plan)];
}
