/** Converts a profile to rows of a set's tables (docs/reference/sets.md). */
import {
  addAt,
  baseName,
  f64,
  isBusy,
  isCode,
  isWaiting,
  item,
  State,
  stateNames,
  u16,
  u32,
  u8,
  Waiting,
  type Member,
} from '../model/index.js';
import type { Interner } from './intern.js';
import type { JobEvents } from './job-events.js';
import type { RowOf, TableName } from './tables.js';

/** Receives a row for a table. */
export type Emit = <T extends TableName>(table: T, row: RowOf<T>) => void;

const waitingNames = ['', 'object', 'woken'] as const;
const stateName = (state: number): string => stateNames[state - 1] ?? '';

/** Maps numbers of the profile to numbers of the set: entities at first use, and nodes of its stacks. */
class Numbers {
  readonly #entities: Int32Array;
  readonly contexts: Uint32Array;
  constructor(
    private readonly member: Member,
    private readonly interner: Interner,
  ) {
    const { stacks, entities } = member.raw;
    this.#entities = new Int32Array(Math.max(1, entities.length)).fill(-1);
    this.#entities[0] = 0;
    this.contexts = new Uint32Array(Math.max(1, stacks.parent.length));
    for (let n = 1; n < stacks.parent.length; n++) {
      const up = u32(this.contexts, u32(stacks.parent, n));
      const its = u32(stacks.entity, n);
      // lines and loops of code belong to the context of their procedure
      this.contexts[n] = isCode(item(entities, its).kind) ? up : interner.context(up, this.entity(its));
    }
  }
  entity(id: number): number {
    const known = item(this.#entities, id);
    if (known >= 0) return known;
    const { raw, nameOf, kindOf } = this.member;
    const { file, line, module, libraryWait } = item(raw.entities, id);
    const entity = this.interner.entity({
      kind: kindOf(id),
      name: nameOf(id),
      file,
      line,
      module: module > 0 ? baseName(item(raw.modules, module - 1).path) : '',
      waits_for: libraryWait === 'unknown' ? '' : libraryWait,
    });
    this.#entities[id] = entity;
    return entity;
  }
}

/** Costs of entities in one process; `row` maps an entity to its index in the arrays. */
class Costs {
  readonly #row = new Map<number, number>();
  readonly entities: number[] = [];
  readonly npt: number[] = [];
  readonly self: number[] = [];
  readonly processor: number[] = [];
  readonly wait: number[] = [];
  readonly alone: number[] = [];
  readonly beside: number[] = []; // waiting while other threads of the process work, or could
  readonly blocked: number[] = []; // asleep, but not for an object
  row(entity: number): number {
    const known = this.#row.get(entity);
    if (known !== undefined) return known;
    const row = this.entities.length;
    this.#row.set(entity, row);
    this.entities.push(entity);
    for (const column of [this.npt, this.self, this.processor, this.wait, this.alone, this.beside, this.blocked])
      column.push(0);
    return row;
  }
}
const addTo = (column: number[], row: number, amount: number): void => {
  column[row] = item(column, row) + amount;
};

/** Sums tuples that differ only in b, s and r, and charges them to their context and its ancestors. */
function charge(member: Member, numbers: Numbers, interner: Interner, costs: Costs, facts: Map<number, Fact>): void {
  const { raw, weights, withoutCpu } = member;
  const { tuples, stacks } = raw;
  const P = raw.head.processors;
  const nodes = numbers.contexts.length;
  const npt = new Float64Array(nodes);
  const time = new Float64Array(nodes);
  const blocked = new Float64Array(nodes);
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k),
      state = u8(tuples.state, k),
      waiting = u8(tuples.waiting, k);
    const weight = f64(weights, k);
    const b = Math.min(P, Math.max(1, u16(tuples.busy, k))),
      s = u16(tuples.spinning, k);
    const context = u32(numbers.contexts, node);
    const thread = u32(tuples.thread, k);
    const key = ((context * 4 + waiting) * 8 + state) * 2 ** 20 + (thread % 2 ** 20);
    let fact = facts.get(key);
    if (!fact) facts.set(key, (fact = { context, thread, state, waiting, ns: 0, npt: 0, idle: 0, spin: 0, count: 0 }));
    fact.ns += weight;
    fact.count += f64(tuples.count, k);
    const top = item(interner.tops, context);
    if (isBusy(state)) {
      fact.npt += weight / b;
      fact.idle += (weight * Math.max(0, P - b - s)) / b;
      fact.spin += (weight * s) / b;
      addAt(npt, node, weight / b);
      addAt(time, node, weight);
      addTo(costs.self, costs.row(top), weight / b);
      if (thread !== 0) {
        const row = costs.row(numbers.entity(thread));
        addTo(costs.npt, row, weight / b);
        addTo(costs.self, row, weight / b);
        addTo(costs.processor, row, weight);
      }
    }
    if (top !== 0 && (waiting === Waiting.woken || (waiting === Waiting.object && isWaiting(state)))) {
      const row = costs.row(top);
      addTo(costs.wait, row, weight);
      const others = u16(tuples.busy, k) > Number(isBusy(state)) ? 1 : withoutCpu.shareAt(k);
      addTo(costs.beside, row, weight * others);
    } else if (state === State.io || state === State.blocked) addAt(blocked, node, weight);
  }
  for (let n = nodes - 1; n >= 0; n--) {
    if (f64(npt, n) === 0 && f64(time, n) === 0 && f64(blocked, n) === 0) continue;
    const context = u32(numbers.contexts, n);
    const up = n === 0 ? -1 : u32(stacks.parent, n);
    // a code line or loop has the context of its procedure, to which the time is charged already
    if (n === 0 || (context !== u32(numbers.contexts, up) && interner.first[context] === 1)) {
      const row = costs.row(item(interner.tops, context));
      addTo(costs.npt, row, f64(npt, n));
      addTo(costs.processor, row, f64(time, n));
      addTo(costs.blocked, row, f64(blocked, n));
    }
    if (n === 0) break;
    addAt(npt, up, f64(npt, n));
    addAt(time, up, f64(time, n));
    addAt(blocked, up, f64(blocked, n));
  }
  for (const [object, ns] of withoutCpu.aloneNs) addTo(costs.alone, costs.row(numbers.entity(object)), ns);
}

interface Fact {
  context: number;
  thread: number;
  state: number;
  waiting: number;
  ns: number;
  npt: number;
  idle: number;
  spin: number;
  count: number;
}

export interface About {
  member: number;
  rank: number | null;
  file: string;
}

/**
 * Emits all rows of a profile and adds its MPI events to the job's; returns the rows needed for statistics over ranks.
 */
export function memberRows(
  about: About,
  profile: Member,
  interner: Interner,
  events: JobEvents,
  emit: Emit,
): { rank: RowOf<'ranks'>; costs: RowOf<'costs'>[] } {
  const { member } = about;
  const { raw } = profile;
  const { head } = raw;
  const numbers = new Numbers(profile, interner);
  const facts = new Map<number, Fact>();
  const costs = new Costs();
  charge(profile, numbers, interner, costs, facts);

  for (const { context, thread, state, waiting, ns, npt, idle, spin, count } of facts.values())
    emit('facts', {
      member,
      thread,
      context,
      state: stateName(state),
      waiting: waitingNames[waiting] ?? '',
      ns,
      npt_ns: npt,
      idle_ns: idle,
      spin_ns: spin,
      observations: count,
    });
  const rows = costs.entities.map((entity, k) => ({
    member,
    entity,
    npt_ns: item(costs.npt, k),
    npt_self_ns: item(costs.self, k),
    processor_ns: item(costs.processor, k),
    wait_ns: item(costs.wait, k),
    alone_ns: item(costs.alone, k),
    beside_ns: item(costs.beside, k),
    blocked_ns: item(costs.blocked, k),
  }));
  for (const row of rows) emit('costs', row);
  for (const { entity, serial, firstNs, lastNs } of raw.threads)
    emit('threads', {
      member,
      thread: entity,
      entity: numbers.entity(entity),
      serial,
      first_ns: firstNs,
      last_ns: lastNs,
    });
  objectRows(member, profile, numbers, emit);
  events.add(member, about.rank, raw, (id) => numbers.entity(id));
  pathRows(member, profile, numbers, emit);
  const levels = levelRows(member, profile, emit);

  const known = head.usageKnown;
  const rank: RowOf<'ranks'> = {
    member,
    rank: about.rank,
    file: about.file,
    program: baseName(head.program),
    arguments: head.arguments,
    host: head.host.split(',')[0] ?? '',
    machine: head.host,
    pid: head.pid,
    quartz: head.quartzVersion,
    status: head.status === 'complete' ? 'complete' : head.status === 'cut' ? head.endReason : 'unfinished',
    exit_status: head.exitStatus,
    started_ns: head.startedRealtimeNs,
    first_ns: head.firstNs,
    elapsed_ns: head.elapsedNs,
    processors: head.processors,
    cpus: head.cpus,
    threads: raw.threads.length,
    snapshots: head.snapshots,
    npt_ns: rows.find(({ entity }) => entity === 0)?.npt_ns ?? 0,
    ...levels,
    mpi_ns: [...profile.withoutCpu.aloneNs.values()].reduce((sum, ns) => sum + ns, 0),
    starved_ns: profile.withoutCpu.starvedNs,
    mpi_events: raw.messages.ns.length,
    cpu_run_ns: head.cpuRunNs,
    cpu_wait_ns: head.cpuWaitNs,
    user_ns: known ? head.userNs : null,
    system_ns: known ? head.systemNs : null,
    resident_bytes: known ? head.residentBytes : null,
  };
  emit('ranks', rank);
  return { rank, costs: rows };
}

function objectRows(member: number, { raw }: Member, numbers: Numbers, emit: Emit): void {
  for (const object of raw.objects) {
    if (object.waitNs === 0 && object.contended === 0 && object.queueLengthNs === 0) continue;
    emit('objects', {
      member,
      entity: numbers.entity(object.entity),
      instances: object.instances,
      acquisitions: object.acquisitions,
      contended: object.contended,
      wait_ns: object.waitNs,
      wait_max_ns: object.waitMaxNs,
      spin_ns: object.spinNs,
      hold_ns: object.holdNs,
      hold_max_ns: object.holdMaxNs,
      queue_ns: object.queueLengthNs,
    });
  }
}

function pathRows(member: number, { raw }: Member, numbers: Numbers, emit: Emit): void {
  const { onPath } = raw;
  for (let k = 0; k < onPath.ns.length; k++)
    emit('path', {
      member,
      context: u32(numbers.contexts, u32(onPath.stack, k)),
      thread: u32(onPath.thread, k),
      object: numbers.entity(u32(onPath.object, k)),
      state: stateName(u8(onPath.state, k)),
      segments: f64(onPath.count, k),
      ns: f64(onPath.ns, k),
    });
}

/** Rows by number of busy and of spinning processors, and the processors' total times as measured. */
function levelRows(
  member: number,
  { raw }: Member,
  emit: Emit,
): Pick<RowOf<'ranks'>, 'useful_ns' | 'overhead_ns' | 'spinning_ns' | 'idle_ns' | 'nothing_ran_ns'> {
  const { balance, head } = raw;
  const rows = new Map<number, RowOf<'levels'>>();
  let [busyNs, overheadNs, spinningNs, elapsed, nothing] = [0, 0, 0, 0, 0];
  for (let k = 0; k < balance.ns.length; k++) {
    const busy = u16(balance.busy, k),
      spinning = u16(balance.spinning, k),
      ns = f64(balance.ns, k);
    const row = rows.get(busy * 65_536 + spinning);
    if (row) row.ns += ns;
    else rows.set(busy * 65_536 + spinning, { member, busy, spinning, ns });
    busyNs += busy * ns;
    spinningNs += spinning * ns;
    overheadNs += f64(balance.overheadNs, k);
    elapsed += ns;
    if (busy === 0) nothing += ns;
  }
  for (const row of rows.values()) emit('levels', row);
  return {
    useful_ns: busyNs - overheadNs,
    overhead_ns: overheadNs,
    spinning_ns: spinningNs,
    idle_ns: Math.max(0, head.processors * elapsed - busyNs - spinningNs),
    nothing_ran_ns: nothing,
  };
}
