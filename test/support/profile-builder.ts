/**
 * Makes profiles from what happened: stretches of time, and in each what every thread did. Sums, balance, queues,
 * blame and threads follow from that, as a sampler that sees every instant would record them.
 *
 *   const profile = new ProfileBuilder({ processors: 4 })
 *     .stretch(1e9, [run('main', ['main', 'a'])])
 *     .stretch(1e9, [run('w1', ['main', 'b']), wait('w2', ['main', 'b', 'mutex:queue'])])
 *     .build();
 *
 * Entities are written `name` (a procedure) or `kind:name` (an object); what a futex or loop is known to be stands in
 * brackets: `futex(barrier):GOMP_barrier at a.c:9`. A thread `worker#2` is called "worker". Of a loop of code
 * `describe` says what procedure it is in: { record: id(procedure) }.
 */
import type {
  EntityKind,
  LibraryWait,
  RawEntity,
  RawHead,
  RawObject,
  RawProfile,
  RawThread,
} from '../../ts-frontend/src/model/index.js';
import {
  abi,
  KernelWork,
  noInstructions,
  noObject,
  noTimePath,
  State,
  Waiting,
} from '../../ts-frontend/src/model/index.js';
import { coded, loadAddon } from '../../ts-frontend/src/reader/profile.js';
import type { Doing, ThreadState } from './doing.js';
import { pathEndOf, type PathRow, type PathStretch } from './path-end.js';
import { noSleeps, plainHead, unknownEntity } from './plain-rows.js';

export * from './doing.js';

export interface BuilderOptions {
  processors: number;
  snapshotNs?: number;
  head?: Partial<RawHead>;
  undecidedNs?: number; // of the path's end
}
interface Tuple {
  stack: number;
  thread: number;
  state: number;
  waiting: number;
  kernel: number;
  b: number;
  s: number;
  r: number;
  count: number;
  ns: number;
}

const { exact, parts } = abi.queueBuckets;
function queueBucket(length: number): number {
  if (length < exact) return length;
  const power = Math.floor(Math.log2(length / exact));
  return exact + parts * power + Math.floor((length / (exact * 2 ** power) - 1) * parts);
}

export class ProfileBuilder {
  private readonly entities: RawEntity[] = [entity('procedure', '')];
  private readonly entityIds = new Map<string, number>();
  private readonly nodes: { parent: number; entity: number }[] = [{ parent: 0, entity: 0 }];
  private readonly nodeIds = new Map<string, number>();
  private readonly tuples = new Map<string, Tuple>();
  private readonly balance = new Map<
    string,
    { b: number; s: number; r: number; overheadNs: number; count: number; ns: number }
  >();
  private readonly objects = new Map<number, RawObject>();
  private readonly blame = new Map<
    string,
    { object: number; stack: number; thread: number; count: number; ns: number }
  >();
  private readonly waitOverlap: { object: number; stack: number; thread: number; ns: number; waitersNs: number }[] = [];
  private readonly recent: PathRow[] = [];
  private readonly calls: { caller: number; callee: number; count: number }[] = [];
  private readonly threads = new Map<number, RawThread>();
  private readonly stretches: {
    ns: number;
    useful: number;
    overhead: number;
    spinning: number;
    r: number;
    top: number;
  }[] = [];
  private elapsed = 0;
  private snapshots = 0;

  constructor(private readonly options: BuilderOptions) {}

  /** Number of an entity, made when first named. */
  id(text: string): number {
    const known = this.entityIds.get(text);
    if (known !== undefined) return known;
    const colon =
      /^(mutex|rwlock|condition|semaphore|barrier|channel|join|sleep|spinlock|once|futex|loop|thread|procedure|code-loop|code-line)(?:\(([a-z-]+)\))?:(.*)$/.exec(
        text,
      );
    const kind = (colon?.[1] ?? 'procedure') as EntityKind;
    const name = (colon?.[3] ?? text).replace(/#.*$/, '');
    const made = entity(kind, name, 0x1000 + 16 * this.entities.length);
    if (colon?.[2] !== undefined) Object.assign(made, { libraryWait: colon[2] as LibraryWait, naming: 'place' });
    const id = this.entities.push(made) - 1;
    this.entityIds.set(text, id);
    if (kind === 'thread')
      this.threads.set(id, {
        entity: id,
        creator: 0,
        serial: this.threads.size + 1,
        firstNs: this.elapsed,
        lastNs: this.elapsed,
        ...noSleeps,
      });
    else if (kind !== 'procedure' && kind !== 'code-loop' && kind !== 'code-line')
      this.objects.set(id, { ...noObject(id), instances: 1 });
    return id;
  }

  /** Changes what the profile says of an entity. */
  describe(text: string, change: Partial<RawEntity>): this {
    Object.assign(this.entities[this.id(text)]!, change);
    return this;
  }

  /** Sets statistics that do not follow from stretches: acquisitions, exact times, capacity. */
  object(text: string, change: Partial<RawObject>): this {
    Object.assign(this.objects.get(this.id(text))!, change);
    return this;
  }

  /** The next stretch of the time path's end, by the thread with that stack. */
  onPath(ns: number, thread: string, stack: string[], how: Partial<PathStretch> = {}): this {
    this.recent.push({ ns, thread: this.id(`thread:${thread}`), stack: this.stack(stack), how });
    return this;
  }

  call(caller: string, callee: string, count: number): this {
    this.calls.push({ caller: caller === '' ? 0 : this.id(caller), callee: this.id(callee), count });
    return this;
  }

  stretch(ns: number, threads: Doing[]): this {
    const P = this.options.processors;
    const count = Math.max(1, Math.round(ns / (this.options.snapshotNs ?? 1e6)));
    const of = (...states: ThreadState[]): number => threads.filter((one) => states.includes(one.state)).length;
    const b = of('useful', 'overhead'),
      s = of('spinning'),
      r = b + s + of('ready');
    if (b + s > P) throw new Error(`${b + s} threads on ${P} processors`);
    const queues = new Map<number, number>();
    const waiters = new Map<number, number>();
    let top = 0;
    for (const one of threads) {
      const stack = this.stack(one.stack);
      const thread = this.id(`thread:${one.thread}`);
      this.threads.get(thread)!.lastNs = this.elapsed + ns;
      const state = State[one.state];
      const key = `${stack} ${thread} ${state} ${one.waiting} ${one.woken} ${one.kernel} ${b} ${s} ${r}`;
      const known = this.tuples.get(key);
      if (known) {
        known.count += count;
        known.ns += ns;
      } else
        this.tuples.set(key, {
          stack,
          thread,
          state,
          waiting: one.woken ? Waiting.woken : one.waiting ? Waiting.object : Waiting.none,
          kernel: KernelWork[one.kernel ?? 'none'],
          b,
          s,
          r,
          count,
          ns,
        });
      if (one.waiting) {
        const object = this.nodes[stack]!.entity;
        waiters.set(object, (waiters.get(object) ?? 0) + 1);
        if (one.state === 'blocked') queues.set(object, (queues.get(object) ?? 0) + 1);
      } else if (one.state === 'useful') top = this.nodes[stack]!.entity;
    }
    for (const [object, row] of this.objects) {
      const length = queues.get(object) ?? 0;
      row.observedNs += ns;
      row.queueLengthNs += length * ns;
      row.queueNs[queueBucket(length)]! += ns;
      row.waitNs += (waiters.get(object) ?? 0) * ns;
    }
    for (const [object, waiting] of waiters) {
      const holder = threads.find(
        (one) =>
          one.stack.some((text) => this.id(text) === object) &&
          !((one.waiting || one.woken) && this.id(one.stack.at(-1)!) === object),
      );
      const stack = holder ? this.stack(holder.stack) : 0;
      const thread = holder ? this.id(`thread:${holder.thread}`) : 0;
      const key = `${object} ${stack} ${thread}`;
      const row = this.blame.get(key) ?? { object, stack, thread, count: 0, ns: 0 };
      row.count += count;
      row.ns += waiting * ns;
      this.blame.set(key, row);
    }
    const running = threads.filter((one) => one.state === 'useful' || one.state === 'overhead');
    for (const one of b < P ? running : [])
      for (const [object, waiting] of [
        ...waiters,
        ...threads.filter((other) => other.state === 'io').map(() => [0, 1] as const),
      ])
        this.waitOverlap.push({
          object,
          stack: this.stack(one.stack),
          thread: this.id(`thread:${one.thread}`),
          ns: ns / b,
          waitersNs: (waiting * ns) / b,
        });
    const key = `${b} ${s} ${r}`;
    const row = this.balance.get(key) ?? { b, s, r, overheadNs: 0, count: 0, ns: 0 };
    row.count += count;
    row.ns += ns;
    row.overheadNs += of('overhead') * ns;
    this.balance.set(key, row);
    this.stretches.push({
      ns,
      useful: of('useful') * ns,
      overhead: of('overhead') * ns,
      spinning: s * ns,
      r: r * ns,
      top,
    });
    this.elapsed += ns;
    this.snapshots += count;
    return this;
  }

  /** As the sampler decides it, where a test does not say. */
  private purposesOf({ kind, name, purposes }: RawEntity): number {
    return purposes !== 0 ? purposes : loadAddon().purposesOf(kind, name, '');
  }
  private styleOf({ kind, name, style }: RawEntity): RawEntity['style'] {
    return style !== 'other' ? style : coded.style(loadAddon().namingStyleOf(kind, name, ''));
  }

  build(): RawProfile {
    const tuples = [...this.tuples.values()];
    const balance = [...this.balance.values()];
    const blame = [...this.blame.values()];
    const P = this.options.processors;
    let start = 0;
    const starts = this.stretches.map((one) => (start += one.ns) - one.ns);
    return {
      path: 'synthetic.quartz',
      head: {
        ...plainHead,
        processors: P,
        cpus: P,
        roundsBegun: this.snapshots,
        snapshots: this.snapshots,
        elapsedNs: this.elapsed,
        visits: this.snapshots * P,
        weightSquaresUs2: this.snapshots > 0 ? this.elapsed ** 2 / this.snapshots / 1e6 : 0,
        rateHz: 1e9 / (this.options.snapshotNs ?? 1e6),
        ...this.options.head,
      },
      strings: () => '',
      entities: this.entities.map((one) => ({ ...one, purposes: this.purposesOf(one), style: this.styleOf(one) })),
      stacks: {
        parent: Uint32Array.from(this.nodes, (node) => node.parent),
        entity: Uint32Array.from(this.nodes, (node) => node.entity),
      },
      tuples: {
        stack: Uint32Array.from(tuples, (t) => t.stack),
        thread: Uint32Array.from(tuples, (t) => t.thread),
        state: Uint8Array.from(tuples, (t) => t.state),
        waiting: Uint8Array.from(tuples, (t) => t.waiting),
        torn: new Uint8Array(tuples.length),
        kernel: Uint8Array.from(tuples, (t) => t.kernel),
        busy: Uint16Array.from(tuples, (t) => t.b),
        spinning: Uint16Array.from(tuples, (t) => t.s),
        runnable: Uint32Array.from(tuples, (t) => t.r),
        count: Float64Array.from(tuples, (t) => t.count),
        ns: Float64Array.from(tuples, (t) => t.ns),
        runnableNs: Float64Array.from(tuples, (t) => t.r * t.ns),
      },
      balance: {
        busy: Uint16Array.from(balance, (t) => t.b),
        spinning: Uint16Array.from(balance, (t) => t.s),
        runnable: Uint32Array.from(balance, (t) => t.r),
        overheadNs: Float64Array.from(balance, (t) => t.overheadNs),
        count: Float64Array.from(balance, (t) => t.count),
        ns: Float64Array.from(balance, (t) => t.ns),
        runnableNs: Float64Array.from(balance, (t) => t.r * t.ns),
      },
      ...noInstructions(),
      ...noTimePath(),
      ...pathEndOf(this.recent, this.elapsed, this.options.undecidedNs ?? 0, (name) => this.id(name)),
      objects: [...this.objects.values()].map((row) => ({ ...row, queueNs: row.queueNs.slice() })),
      blame: {
        object: Uint32Array.from(blame, (t) => t.object),
        stack: Uint32Array.from(blame, (t) => t.stack),
        thread: Uint32Array.from(blame, (t) => t.thread),
        count: Uint32Array.from(blame, (t) => t.count),
        ns: Float64Array.from(blame, (t) => t.ns),
      },
      waitOverlap: {
        object: Uint32Array.from(this.waitOverlap, (t) => t.object),
        stack: Uint32Array.from(this.waitOverlap, (t) => t.stack),
        thread: Uint32Array.from(this.waitOverlap, (t) => t.thread),
        count: Uint32Array.from(this.waitOverlap, () => 1),
        ns: Float64Array.from(this.waitOverlap, (t) => t.ns),
        waitersNs: Float64Array.from(this.waitOverlap, (t) => t.waitersNs),
      },
      calls: {
        site: new Float64Array(this.calls.length),
        caller: Uint32Array.from(this.calls, (t) => t.caller),
        callee: Uint32Array.from(this.calls, (t) => t.callee),
        count: Float64Array.from(this.calls, (t) => t.count),
      },
      threads: [...this.threads.values()].map((thread) => ({ ...thread })),
      modules: [],
      timeline: {
        startNs: Float64Array.from(starts),
        ns: Float64Array.from(this.stretches, (t) => t.ns),
        usefulNs: Float64Array.from(this.stretches, (t) => t.useful),
        overheadNs: Float64Array.from(this.stretches, (t) => t.overhead),
        spinningNs: Float64Array.from(this.stretches, (t) => t.spinning),
        idleNs: Float64Array.from(this.stretches, (t) => P * t.ns - t.useful - t.overhead - t.spinning),
        runnableNs: Float64Array.from(this.stretches, (t) => t.r),
        snapshots: Uint32Array.from(this.stretches, () => 1),
        top: Uint32Array.from(this.stretches, (t) => t.top),
      },
      processors: {
        usefulNs: new Float64Array(0),
        overheadNs: new Float64Array(0),
        spinningNs: new Float64Array(0),
        idleNs: new Float64Array(0),
      },
    };
  }

  private stack(texts: string[]): number {
    let node = 0;
    for (const text of texts) {
      const key = `${node} ${this.id(text)}`;
      let next = this.nodeIds.get(key);
      if (next === undefined) {
        next = this.nodes.push({ parent: node, entity: this.id(text) }) - 1;
        this.nodeIds.set(key, next);
      }
      node = next;
    }
    return node;
  }
}

function entity(kind: EntityKind, name: string, address = 0): RawEntity {
  return { ...unknownEntity, kind, name, address };
}
