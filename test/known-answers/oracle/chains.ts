/**
 * Both chains of docs/reference/path.md, the time path and the span, computed from what a program has logged about
 * itself (../path-programs/events.h). Written from the definitions alone: it shares no code with the publishers, the
 * sampler or the model, and sees calls from outside, when they begin and return.
 */

export interface ProgramEvent {
  ns: number; // when
  cpuNs: number; // processor time of its kernel thread
  what: string;
  who: number; // thread
  whom: number; // thread, object, item, or how many ns a sleep was asked to take: as `what` says
  frame: number; // where the caller's stack is
}
/** Strands of one thread on a chain, in ns. */
export type ByThread = Map<number, number>;
export interface Chains {
  workNs: number;
  spanNs: number;
  onSpan: ByThread; // strands on the span
  lengthNs: number; // elapsed, from main's begin to its end
  onPath: ByThread; // elapsed time on the time path
}

const eventBytes = 48;
/** `baseNs` is taken from every time, so that times are small and exact. */
export function parseEvents(file: Buffer, baseNs: bigint): ProgramEvent[] {
  const events: ProgramEvent[] = [];
  for (let at = 0; at < file.length && file[at + 16] !== 0; at += eventBytes)
    events.push({
      ns: Number(file.readBigUInt64LE(at) - baseNs),
      cpuNs: Number(file.readBigUInt64LE(at + 8)),
      what: file.toString('latin1', at + 16, at + 24).replace(/\0.*$/, ''),
      who: Number(file.readBigUInt64LE(at + 24)),
      whom: Number(file.readBigUInt64LE(at + 32)),
      frame: Number(file.readBigUInt64LE(at + 40)),
    });
  return events.sort((a, b) => a.ns - b.ns); // stable: a thread's own stay in their order
}

/** Events after which a strand begins: a call has returned, or the thread has begun. */
const begins = new Set(
  'begin created synced joined passes has left woken posted broadcast awoke awake received sent got set'.split(' '),
);
const ringThreads = 4; // of traced.c: items of one channel are so far apart,
const ringRoom = 2; // and it holds so many
const ofOneStack = 16384; // a spawned call that its parent calls is this near to it

/** A point of a thread: the length of the chain there, and where it comes from. */
interface Point {
  event: ProgramEvent;
  before: Point | null; // of the same thread
  spanNs: number;
  strandNs: number; // of the strand that ends here
  from: Point | null; // the predecessor with the same length: `before`, or another thread's
  cause: Point | null; // the thread that ended its wait, if it waited: then the time path comes from there
}

export class Oracle {
  private readonly last = new Map<number, Point>(); // by thread
  private readonly named = new Map<string, Point>(); // by what happened: `end 7`, `sends 12`
  private readonly children = new Map<number, number[]>(); // of the thread, not synced yet
  private readonly creators = new Map<number, number>();
  private readonly arrivals = new Map<number, Point[]>(); // by round
  private readonly released = new Map<number, Point>(); // by lock
  private readonly items = new Map<number, number[]>(); // by channel, in the order in which they were sent
  workNs = 0;
  /** Whether the time of a sleep is on the span, as in the thread package. */
  constructor(
    private readonly isSleepOnSpan: boolean,
    /**
     * Whether a thread that lost its CPU on the way has waited for what became free in that time: this cannot be seen
     * from outside.
     */
    private readonly hasWaited: boolean,
  ) {}

  /** Events in time order. */
  add(event: ProgramEvent): void {
    const { who, whom, what } = event;
    const before = this.last.get(who) ?? null;
    const isRunning = before !== null && begins.has(before.event.what);
    const strandNs = isRunning && !begins.has(what) ? Math.max(0, event.cpuNs - before.event.cpuNs) : 0;
    this.workNs += strandNs;
    const spanNs = (before?.spanNs ?? 0) + strandNs;
    const point: Point = { event, before, spanNs, strandNs, from: before, cause: null };
    this.last.set(who, point);
    this.named.set(`${what} ${what === 'begin' || what === 'end' ? who : whom}`, point);
    this.note(point);
    this.merge(point, this.followed(point));
  }

  private merge(point: Point, followed: readonly Point[]): void {
    for (const other of followed)
      if (other.spanNs > point.spanNs || point.from === null) {
        point.spanNs = other.spanNs;
        point.from = other;
      }
  }

  private note(point: Point): void {
    const { who, whom, what } = point.event;
    const push = <Value>(map: Map<number, Value[]>, key: number, value: Value): void => {
      map.set(key, [...(map.get(key) ?? []), value]);
    };
    if (what === 'creates') {
      push(this.children, who, whom);
      this.creators.set(whom, who);
    } else if (what === 'arrives') push(this.arrivals, whom, point);
    else if (what === 'leaves') this.released.set(whom, point);
    else if (what === 'awaits')
      this.released.set(1, point); // of the condition's mutex
    else if (what === 'sends') push(this.items, whom % ringThreads, whom);
  }

  /** Points that this one cannot precede; sets its cause. */
  private followed(point: Point): Point[] {
    const { who, whom, what } = point.event;
    const at = (name: string): Point[] => [this.named.get(name)].filter((one) => one !== undefined);
    const since = point.before?.event.ns ?? 0;
    /** The youngest, if the thread waited for it. */
    const waited = (points: readonly Point[]): void => {
      const youngest = [...points].sort((a, b) => b.event.ns - a.event.ns)[0];
      if (youngest && youngest.event.ns > since && youngest.event.who !== who) point.cause = youngest;
    };
    const ifWaited = (points: readonly Point[]): Point[] => {
      waited(points);
      return point.cause && this.hasWaited ? [point.cause] : [];
    };
    let points: Point[] = [];
    switch (what) {
      case 'begin':
        points = at(`creates ${who}`);
        point.cause = this.callerOf(point) ?? points[0] ?? null;
        return points;
      case 'synced':
        points = (this.children.get(who) ?? []).flatMap((child) => at(`end ${child}`));
        this.children.delete(who);
        break;
      case 'joined':
        points = at(`end ${whom}`);
        break;
      case 'passes':
        points = this.arrivals.get(whom) ?? [];
        break;
      case 'received':
        points = at(`sends ${whom}`);
        break;
      case 'got':
        points = at(`sets ${whom}`);
        break;
      case 'has':
        return ifWaited([this.released.get(whom)].filter((one) => one !== undefined));
      case 'awoke': {
        const broadcasts = at('broadcasts 2');
        const left = this.released.get(1);
        const byLock = left !== undefined && left.event.ns > (broadcasts[0]?.event.ns ?? 0);
        const edges = ifWaited(byLock ? [left] : broadcasts);
        return this.hasWaited ? edges : broadcasts; // a thread that waited for the condition has waited for that
      }
      case 'woken':
        return ifWaited(at(`posts ${whom}`));
      case 'sent': {
        const channel = this.items.get(whom % ringThreads) ?? [];
        const room = channel[channel.indexOf(whom) - ringRoom];
        return room === undefined ? [] : ifWaited(at(`received ${room}`));
      }
      case 'awake':
        // What was asked for: from then on the thread waits for a processor.
        if (this.isSleepOnSpan) point.spanNs += point.before?.event.whom ?? 0;
        return [];
    }
    waited(points);
    return points;
  }

  /** For a spawned call, or thread, that its parent calls while it waits: the parent's point, or its previous call. */
  private callerOf({ event }: Point): Point | null {
    const parent = this.last.get(this.creators.get(event.who) ?? 0);
    if (parent === undefined || !['syncs', 'joins'].includes(parent.event.what)) return null;
    const distance = parent.event.frame - event.frame;
    if (distance <= 0 || distance > ofOneStack) return null;
    const ended = (this.children.get(parent.event.who) ?? [])
      .map((child) => this.named.get(`end ${child}`))
      .filter((one) => one !== undefined && one.event.ns > parent.event.ns);
    return ended.sort((a, b) => b!.event.ns - a!.event.ns)[0] ?? parent;
  }

  /** The chains that end where that thread ended. */
  chains(main: number): Chains {
    const end = this.named.get(`end ${main}`);
    if (!end) throw new Error(`thread ${main} has not ended`);
    const onSpan: ByThread = new Map();
    const onPath: ByThread = new Map();
    const add = (to: ByThread, key: number, ns: number): void => void to.set(key, (to.get(key) ?? 0) + ns);
    for (let point: Point | null = end; point; point = point.from) add(onSpan, point.event.who, point.strandNs);
    let first = end;
    for (let point: Point | null = end; point;) {
      first = point;
      const next: Point | null = point.cause ?? point.before;
      if (next) add(onPath, point.event.who, point.event.ns - next.event.ns);
      point = next;
    }
    return { workNs: this.workNs, spanNs: end.spanNs, onSpan, lengthNs: end.event.ns - first.event.ns, onPath };
  }
}

/** hasWaited: whether a thread that may have waited for a lock, a semaphore or room in a channel did wait. */
export function chainsOf(
  events: readonly ProgramEvent[],
  main: number,
  isSleepOnSpan: boolean,
  hasWaited = true,
): Chains {
  const oracle = new Oracle(isSleepOnSpan, hasWaited);
  for (const event of events) oracle.add(event);
  return oracle.chains(main);
}
