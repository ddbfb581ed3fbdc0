/** Numbers that the findings of a job share. Pure functions. */
import { item } from '../../model/index.js';
import type { Pattern } from '../waits.js';
import type { RowOf } from '../tables.js';
import { waitsForProcesses, type LoadedSet } from '../views.js';
import type { Place, WaitingCall } from './types.js';

/** The least saving, as a share of the job's elapsed time, that is a finding. */
export const leastShare = 0.05;
/** The maximum number of calls and ranks that are listed. */
const mostListed = 3;

/** A wait of a rank that another one caused. */
export interface Delay {
  member: number; // the waiting one; -1: all others, where only samples are known
  late: number;
  cause: number;
  entity: number; // the call
  until: number; // the call to which `cause` came late
  pattern: Pattern | null;
  ns: number;
}

export interface Basis {
  set: LoadedSet;
  count: number; // of ranks
  jobNs: number; // elapsed time of the longest rank
  delays: readonly Delay[];
  sampled: boolean; // delays are from samples
  delayNs: number; // sum of all delays
  waited: Float64Array; // by member: waiting for late ranks
  summaryOf: (entity: number) => RowOf<'summary'> | undefined;
}

export const sum = (values: Iterable<number>): number => {
  let all = 0;
  for (const value of values) all += value;
  return all;
};

export function placeOf({ entities }: LoadedSet, entity: number): Place {
  const { name, file, line } = item(entities, entity);
  return { name, file, line };
}

/** Calls that wait for messages or collectives, not for the start or end of processes. */
export const isExchange = (row: RowOf<'entities'>): boolean => waitsForProcesses(row) && row.waits_for !== 'processes';

/** Delays as far as samples show them: the rank that waits least at a call is the one that others wait for. */
function sampledDelays({ summary, entities, ranks }: LoadedSet): Delay[] {
  return summary
    .filter(({ entity, alone_max_ns }) => alone_max_ns > 0 && isExchange(item(entities, entity)))
    .map(({ entity, alone_mean_ns, alone_min_ns, alone_min_member }) => ({
      member: -1,
      late: alone_min_member,
      cause: alone_min_member,
      entity,
      until: entity,
      pattern: null,
      ns: (alone_mean_ns - alone_min_ns) * ranks.length,
    }))
    .filter(({ ns }) => ns > 0);
}

export function basisOf(set: LoadedSet): Basis {
  const { ranks, summary, head } = set;
  const rows = new Map(summary.map((row) => [row.entity, row]));
  const summaryOf = (entity: number): RowOf<'summary'> | undefined => rows.get(entity);
  const sampled = ranks.every(({ mpi_events }) => mpi_events === 0) || (head.parts ?? 1) > 1;
  const delays = sampled
    ? sampledDelays(set)
    : set.delays.map(({ member, late_member, cause_member, entity, until, pattern, alone_ns }) => ({
        member,
        late: late_member,
        cause: cause_member,
        entity,
        until,
        pattern: pattern as Pattern,
        // while a thread waits, others of its process may work: then the wait costs nothing
        ns: alone_ns,
      }));
  const waited = new Float64Array(ranks.length);
  if (sampled) ranks.forEach(({ mpi_ns }, member) => (waited[member] = mpi_ns));
  else for (const { member, ns } of delays) waited[member] = item(waited, member) + ns;
  return {
    set,
    count: ranks.length,
    jobNs: ranks.reduce((most, { elapsed_ns }) => Math.max(most, elapsed_ns), 0),
    delays,
    sampled,
    delayNs: sum(delays.map(({ ns }) => ns)),
    waited,
    summaryOf,
  };
}

/** Calls that have less than this share of the time are not listed. */
const leastListed = 0.05;

/** The main ones of these, the longest first, and the number of others that have a part worth mentioning. */
export function listed<Row extends { ns: number }>(rows: readonly Row[]): { calls: Row[]; further: number } {
  const all = sum(rows.map(({ ns }) => ns));
  const some = rows.filter(({ ns }) => ns >= leastListed * all).sort((a, b) => b.ns - a.ns);
  return { calls: some.slice(0, mostListed), further: Math.max(0, some.length - mostListed) };
}

/** The calls at which these delays happen; times are means over so many ranks. */
export function callsOf(basis: Basis, delays: readonly Delay[], ranks: number): WaitingCall[] {
  const calls = new Map<number, { ns: number; by: Map<string, { delay: Delay; ns: number }> }>();
  for (const delay of delays) {
    const its = calls.get(delay.entity) ?? { ns: 0, by: new Map<string, { delay: Delay; ns: number }>() };
    its.ns += delay.ns;
    const key = `${delay.pattern ?? ''} ${delay.until}`;
    const part = its.by.get(key) ?? { delay, ns: 0 };
    part.ns += delay.ns;
    its.by.set(key, part);
    calls.set(delay.entity, its);
  }
  return [...calls].map(([entity, { ns, by }]) => {
    const [first] = [...by.values()].sort((a, b) => b.ns - a.ns);
    const { pattern, until } = first?.delay ?? { pattern: null, until: entity };
    return {
      call: placeOf(basis.set, entity),
      pattern,
      until: until === entity || until === 0 ? null : placeOf(basis.set, until),
      ns: ns / ranks,
    };
  });
}

export const meanOver = (values: Float64Array, members: readonly number[]): number =>
  members.length === 0 ? 0 : sum(members.map((member) => item(values, member))) / members.length;
