/**
 * Figure 1 of the paper for one entity: its NPT divided among itself and its children. A child is the entity directly
 * above the innermost occurrence of the focused entity on a stack, so that the rows sum to its NPT, and the row "self"
 * is its self NPT. Groups of entities with the same name count as one entity. Pure.
 */
import { addAt, f64, item, u16, u32, u8 } from '../profile/columns.js';
import { State } from '../profile/raw-profile.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';
import { tablesOf } from '../metrics/tables.js';
import type { Entity, Focus, FocusRow, Model } from '../result/types.js';

/** Stands for the entity itself, instead of a child. */
const self = -2;
/** The entity is not on the path. */
const absent = -1;

type Tables = ReturnType<typeof tablesOf>;

/** Sums over the tuples of one entity: by child, and by thread. */
interface Parts {
  byBusy: Map<number, Float64Array>; // T_i
  waits: Map<number, Focus['waits'][number]>;
  threads: Map<number, { npt: number; time: number }>;
}

export function focusOn(model: Model, id: number): Focus {
  const tables = tablesOf(model);
  const entity = model.entities[id];
  if (!entity) throw new RangeError(`no entity ${id}`);
  const { byBusy, waits, threads } = partsOf(model, tables, entity);
  return {
    entity: id,
    name: entity.name,
    nptNs: entity.nptNs,
    share: entity.share,
    byBusyNs: entity.byBusyNs,
    rows: rowsOf(model, tables, entity, byBusy),
    threads: [...threads]
      .map(([thread, { npt, time }]) => ({
        entity: thread,
        nptNs: npt,
        share: entity.nptNs > 0 ? npt / entity.nptNs : 0,
        processorTimeNs: time,
      }))
      .sort((a, b) => b.nptNs - a.nptNs),
    waits: [...waits.values()].sort(
      (a, b) => b.blockedNs + b.spinningNs + b.ioNs - a.blockedNs - a.spinningNs - a.ioNs,
    ),
  };
}

/** The group of an entity if it has one, else the entity. */
const shownAs = ({ groupOf }: Tables, e: number): number => (e !== 0 && u32(groupOf, e) !== 0 ? u32(groupOf, e) : e);

/** Whether an entity of the profile is `id`, or belongs to the group `id`. */
const belongs = ({ groupOf }: Tables, e: number, id: number): boolean =>
  e === id || (id >= groupOf.length && u32(groupOf, e) === id);

/** The paths that contain entities of that kind: loops and lines of code are only on paths of their own. */
function pathsFor(
  model: Model,
  { stacks, loops, lines }: Tables,
  kind: Entity['rawKind'],
): { stacks: Stacks; tuples: RawProfile['tuples'] } {
  if (kind === 'code-loop') return { stacks: loops.stacks, tuples: loops.raw.tuples };
  if (kind === 'code-line') return { stacks: lines.stacks, tuples: lines.raw.tuples };
  return { stacks, tuples: model.raw.tuples };
}

/** For each node of the tree of stacks: the child to which its time belongs. */
function childByNode(tables: Tables, stacks: Stacks, id: number): Int32Array {
  const child = new Int32Array(stacks.count).fill(absent);
  if (id === 0) child[0] = self;
  for (let n = 1; n < stacks.count; n++) {
    const e = u32(stacks.entity, n);
    const below = item(child, u32(stacks.parent, n));
    child[n] = belongs(tables, e, id) ? self : below === self ? shownAs(tables, e) : below;
  }
  return child;
}

function partsOf(model: Model, tables: Tables, { id, rawKind }: Entity): Parts {
  const { weights } = tables;
  const { stacks, tuples } = pathsFor(model, tables, rawKind);
  const P = model.processors;
  const parts: Parts = { byBusy: new Map(), waits: new Map(), threads: new Map() };
  const rowOf = (child: number): Float64Array => {
    let row = parts.byBusy.get(child);
    if (!row) parts.byBusy.set(child, (row = new Float64Array(P)));
    return row;
  };
  rowOf(self);
  const isThread = rawKind === 'thread';
  const above = childByNode(tables, stacks, id);
  for (let k = 0; k < weights.length; k++) {
    const stack = u32(tuples.stack, k);
    let child = item(above, stack);
    if (isThread) {
      if (!belongs(tables, u32(tuples.thread, k), id)) continue;
      child =
        stack === 0 ? self : shownAs(tables, u32(stacks.entity, firstOwn(model, stacks, stack, u32(tuples.thread, k))));
    }
    if (child === absent) continue;
    const state = u8(tuples.state, k);
    const ns = f64(weights, k);
    if (state === State.useful || state === State.overhead) {
      const b = Math.min(P, Math.max(1, u16(tuples.busy, k)));
      addAt(rowOf(child), b - 1, ns);
      const thread = parts.threads.get(u32(tuples.thread, k)) ?? { npt: 0, time: 0 };
      thread.npt += ns / b;
      thread.time += ns;
      parts.threads.set(u32(tuples.thread, k), thread);
    } else {
      const owner = child === self ? id : child;
      const wait = parts.waits.get(owner) ?? { entity: owner, blockedNs: 0, spinningNs: 0, readyNs: 0, ioNs: 0 };
      if (state === State.blocked) wait.blockedNs += ns;
      else if (state === State.spinning) wait.spinningNs += ns;
      else if (state === State.ready) wait.readyNs += ns;
      else if (state === State.io) wait.ioNs += ns;
      parts.waits.set(owner, wait);
      rowOf(child);
    }
  }
  return parts;
}

/** One row for each child and one for the entity itself, largest NPT first. */
function rowsOf(model: Model, { calls }: Tables, entity: Entity, parts: Parts['byBusy']): FocusRow[] {
  const membersOf = (one: Entity): number[] => (one.members.length > 0 ? one.members : [one.id]);
  const called = new Map(calls.calleesOf(membersOf(entity)).map((one) => [one.entity, one.count]));
  const callsTo = (one: Entity): number => membersOf(one).reduce((sum, member) => sum + (called.get(member) ?? 0), 0);
  return [...parts]
    .map(([child, byBusy]): FocusRow => {
      const isSelf = child === self;
      const about = isSelf ? entity : item(model.entities, child);
      const byBusyNs = byBusy.map((ns, k) => ns / (k + 1));
      const nptNs = byBusyNs.reduce((sum, ns) => sum + ns, 0);
      return {
        entity: about.id,
        self: isSelf,
        name: about.name,
        kind: about.kind,
        nptNs,
        share: entity.nptNs > 0 ? nptNs / entity.nptNs : 0,
        processorTimeNs: byBusy.reduce((sum, ns) => sum + ns, 0),
        byBusyNs,
        callsCounted: about.callsCounted,
        calls: isSelf ? about.calls : callsTo(about),
      };
    })
    .sort((a, b) => b.nptNs - a.nptNs || Number(a.self) - Number(b.self) || b.calls - a.calls || a.entity - b.entity);
}

/**
 * A thread's stack begins with that of its creator; the thread's own part begins with its start routine, if that is on
 * the stack.
 */
function firstOwn(
  model: Model,
  { parent, entity }: { parent: Uint32Array; entity: Uint32Array },
  stack: number,
  thread: number,
): number {
  const start = item(model.entities, thread).address;
  let n = stack;
  for (;;) {
    const about = item(model.entities, u32(entity, n));
    if (u32(parent, n) === 0 || (about.kind === 'procedure' && about.address === start)) return n;
    n = u32(parent, n);
  }
}

/** Entities with that name or, if there is none, whose names contain it; groups instead of their members. */
export function findEntities(model: Model, name: string): number[] {
  const ofKind = (of: Entity['rawKind']): number[] =>
    model.entities.filter(({ rawKind, group }) => rawKind === of && group === 0).map(({ id }) => id);
  const loops = ofKind('code-loop');
  const shown = [0, ...model.ranking];
  const called = (ids: number[], is: (its: string) => boolean): number[] =>
    ids.filter((id) => is(model.entities[id]?.name ?? ''));
  const tries = [
    called([...shown, ...loops, ...ofKind('code-line')], (its) => its === name),
    called(shown, (its) => its.includes(name)),
    called(loops, (its) => its.includes(name)),
  ];
  return tries.find((found) => found.length > 0) ?? [];
}
