/**
 * The paper's Figure 1 for one entity: its NPT divided among itself and its children. A child is what stands directly
 * above the innermost occurrence of the entity on a stack, so that the rows sum to the entity's NPT and the row
 * "self" is its self NPT. Groups of namesakes count as one entity. Pure.
 */
import { State } from './raw.js';
import { workingOf } from './model.js';
import type { Entity, Focus, FocusRow, Model } from './types.js';

export function focusOn(model: Model, id: number): Focus {
  const { stacks, weights, groupOf, calls } = workingOf(model);
  const { raw } = model;
  const { tuples } = raw;
  const P = model.processors;
  const entity = model.entities[id];
  if (!entity) throw new RangeError(`no entity ${id}`);
  const shownAs = (e: number): number => (e !== 0 && groupOf[e]! !== 0 ? groupOf[e]! : e);
  const matches = (e: number): boolean => e === id || (id >= groupOf.length && groupOf[e]! === id);

  // For each node: -1 where the entity is not on the path, else the child (0 = self).
  const self = -2;
  const above = new Int32Array(stacks.count).fill(-1);
  if (id === 0) above[0] = self;
  for (let n = 1; n < stacks.count; n++) {
    const e = stacks.entity[n]!;
    if (matches(e)) above[n] = self;
    else if (above[stacks.parent[n]!]! === self) above[n] = shownAs(e);
    else above[n] = above[stacks.parent[n]!]!;
  }

  const isThread = entity.rawKind === 'thread';
  const rows = new Map<number, Float64Array>(); // T_i
  const waits = new Map<number, Focus['waits'][number]>();
  const threads = new Map<number, { npt: number; time: number }>();
  for (let k = 0; k < weights.length; k++) {
    const stack = tuples.stack[k]!;
    let child = above[stack]!;
    if (isThread) {
      if (!matches(tuples.thread[k]!)) continue;
      child = stack === 0 ? self : shownAs(stacks.entity[firstOwn(model, stacks, stack, tuples.thread[k]!)]!);
    }
    if (child === -1) continue;
    const state = tuples.state[k]!;
    const ns = weights[k]!;
    if (state === State.useful || state === State.overhead) {
      const b = Math.min(P, Math.max(1, tuples.busy[k]!));
      let row = rows.get(child);
      if (!row) rows.set(child, (row = new Float64Array(P)));
      row[b - 1]! += ns;
      const thread = threads.get(tuples.thread[k]!) ?? { npt: 0, time: 0 };
      thread.npt += ns / b;
      thread.time += ns;
      threads.set(tuples.thread[k]!, thread);
    } else {
      const owner = child === self ? id : child;
      const wait = waits.get(owner) ?? { entity: owner, blockedNs: 0, spinningNs: 0, readyNs: 0, ioNs: 0 };
      if (state === State.blocked) wait.blockedNs += ns;
      else if (state === State.spinning) wait.spinningNs += ns;
      else if (state === State.ready) wait.readyNs += ns;
      else if (state === State.io) wait.ioNs += ns;
      waits.set(owner, wait);
      if (child !== self && !rows.has(child)) rows.set(child, new Float64Array(P));
    }
  }
  if (!rows.has(self)) rows.set(self, new Float64Array(P));

  const list: FocusRow[] = [];
  const called = new Map(calls.calleesOf(entity.members.length > 0 ? entity.members : [id]).map((one) => [one.entity, one.count]));
  const callsTo = (one: Entity): number => (one.members.length > 0 ? one.members : [one.id]).reduce((sum, member) => sum + (called.get(member) ?? 0), 0);
  for (const [child, byBusy] of rows) {
    const isSelf = child === self;
    const about = model.entities[isSelf ? id : child]!;
    const byBusyNs = byBusy.map((ns, k) => ns / (k + 1));
    const nptNs = byBusyNs.reduce((sum, ns) => sum + ns, 0);
    list.push({
      entity: about.id, self: isSelf, name: about.name, kind: about.kind, nptNs,
      share: entity.nptNs > 0 ? nptNs / entity.nptNs : 0,
      processorTimeNs: byBusy.reduce((sum, ns) => sum + ns, 0), byBusyNs,
      callsCounted: about.callsCounted,
      calls: isSelf ? about.calls : callsTo(about),
    });
  }
  list.sort((a, b) => b.nptNs - a.nptNs || Number(a.self) - Number(b.self) || b.calls - a.calls || a.entity - b.entity);
  return {
    entity: id, name: entity.name, nptNs: entity.nptNs, share: entity.share, byBusyNs: entity.byBusyNs, rows: list,
    threads: [...threads].map(([thread, { npt, time }]) => ({ entity: thread, nptNs: npt, share: entity.nptNs > 0 ? npt / entity.nptNs : 0, processorTimeNs: time }))
      .sort((a, b) => b.nptNs - a.nptNs),
    waits: [...waits.values()].sort((a, b) => b.blockedNs + b.spinningNs + b.ioNs - a.blockedNs - a.spinningNs - a.ioNs),
  };
}

/** A thread's stack begins with its creator's; its own part begins with its start routine, where that is on the stack. */
function firstOwn(model: Model, { parent, entity }: { parent: Uint32Array; entity: Uint32Array }, stack: number, thread: number): number {
  const start = model.entities[thread]!.address;
  let n = stack;
  for (;;) {
    const about = model.entities[entity[n]!]!;
    if (parent[n]! === 0 || (about.kind === 'procedure' && about.address === start)) return n;
    n = parent[n]!;
  }
}

/** Entities whose name is `name`, or contains it where none is equal; groups instead of their members. */
export function findEntities(model: Model, name: string): number[] {
  const shown = [0, ...model.ranking];
  const equal = shown.filter((id) => model.entities[id]!.name === name);
  return equal.length > 0 ? equal : shown.filter((id) => model.entities[id]!.name.includes(name));
}
