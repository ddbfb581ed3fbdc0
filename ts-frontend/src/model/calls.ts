/** Exact call counts by caller and callee, groups included. Pure. */
import type { RawProfile } from './raw.js';
import type { CallCount } from './types.js';

export interface Calls {
  total: Float64Array;                       // by entity: how often it was called
  callers: (Map<number, number> | undefined)[];
  callees: (Map<number, number> | undefined)[];
}

export function countCalls(raw: RawProfile, groupOf: Uint32Array, entities: number): Calls {
  const total = new Float64Array(entities);
  const callers = new Array<Map<number, number> | undefined>(entities);
  const callees = new Array<Map<number, number> | undefined>(entities);
  const { caller, callee, count } = raw.calls;
  for (let k = 0; k < count.length; k++) {
    if (callee[k]! === 0) continue;
    const targets = groupOf[callee[k]!]! ? [callee[k]!, groupOf[callee[k]!]!] : [callee[k]!];
    const sources = caller[k]! !== 0 && groupOf[caller[k]!]! ? [caller[k]!, groupOf[caller[k]!]!] : [caller[k]!];
    for (const target of targets) {
      total[target]! += count[k]!;
      add((callers[target] ??= new Map<number, number>()), caller[k]!, count[k]!);
    }
    for (const source of sources) if (source !== 0) add((callees[source] ??= new Map<number, number>()), callee[k]!, count[k]!);
  }
  return { total, callers, callees };
}

function add(map: Map<number, number>, entity: number, count: number): void {
  map.set(entity, (map.get(entity) ?? 0) + count);
}

export function callList(map: Map<number, number> | undefined): CallCount[] {
  return map ? [...map].map(([entity, count]) => ({ entity, count })).sort((a, b) => b.count - a.count || a.entity - b.entity) : [];
}

/** Calls from one entity (or the members of a group) to another. */
export function callsBetween(calls: Calls, caller: number, callee: number, members: readonly number[]): number {
  const from = calls.callees[caller];
  if (!from) return 0;
  if (members.length === 0) return from.get(callee) ?? 0;
  return members.reduce((sum, member) => sum + (from.get(member) ?? 0), 0);
}
