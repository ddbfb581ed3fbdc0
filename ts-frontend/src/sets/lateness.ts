/**
 * Computes which rank waited for which, and the path through the job, from the times at which ranks entered matching
 * calls. The wait patterns are those of Wolf and Mohr, "Automatic performance analysis of hybrid MPI/OpenMP
 * applications" (2003). Pure functions.
 */
import { abi, item } from '../model/index.js';
import { channelOf, clockOffsets, type JobEvent, type JobEvents } from './job-events.js';
import { delaysOf } from './delays.js';
import type { RowOf } from './tables.js';
import type { Pattern, Wait } from './waits.js';

const byEnd = (a: Wait, b: Wait): number => a.endNs - b.endNs;

class Finder {
  readonly #offsets: (number | null)[];
  /** By member and begin of the call. If a call waits for several requests, the latest event counts. */
  readonly #waits: Map<number, Wait>[];

  constructor(
    private readonly events: JobEvents,
    hosts: readonly string[],
  ) {
    this.#offsets = clockOffsets(events, hosts);
    this.#waits = hosts.map(() => new Map<number, Wait>());
  }

  /** Records a wait of `event` for `late` if `late` happened during the call. */
  #look(event: JobEvent, late: JobEvent, pattern: Pattern): void {
    const [own, other] = [this.offset(event.member), this.offset(late.member)];
    if (own === null || other === null || event.ns === 0) return;
    const beginNs = event.beginNs + own;
    const lateNs = late.postedNs + other;
    const ns = Math.min(event.ns, lateNs - beginNs);
    if (ns <= 0) return;
    const waits = item(this.#waits, event.member);
    if ((waits.get(event.beginNs)?.ns ?? 0) < ns)
      waits.set(event.beginNs, { event, late, pattern, ns, endNs: beginNs + event.ns, lateNs });
  }

  #messages(): void {
    const sent = this.events.channels(abi.MessageKind.sent);
    for (const events of this.events.members)
      for (const event of events) {
        if (event.kind !== abi.MessageKind.received) continue;
        const other = this.events.memberOf(event.peer);
        const its = other === undefined ? undefined : sent.get(channelOf(event, other))?.get(event.number);
        if (its === undefined) continue;
        this.#look(event, its, 'late sender');
        this.#look(its, event, 'late receiver');
      }
  }

  #collectives(): void {
    for (const all of this.events.collectives()) {
      const when = ({ member, postedNs }: JobEvent): number => postedNs + (this.offset(member) ?? -Infinity);
      const lastOf = (some: readonly JobEvent[]): JobEvent | undefined =>
        some.reduce<JobEvent | undefined>((a, b) => (a === undefined || when(b) > when(a) ? b : a), undefined);
      for (const event of all) {
        const root = event.peer === -1 ? undefined : this.events.memberOf(event.peer);
        const others = all.filter(({ member }) => member !== event.member);
        const late =
          event.kind === abi.MessageKind.fromRoot
            ? all.find(({ member }) => member === root)
            : event.kind === abi.MessageKind.toRoot
              ? root === event.member
                ? lastOf(others)
                : undefined
              : event.kind === abi.MessageKind.prefix
                ? lastOf(others.filter(({ member }) => member < event.member))
                : lastOf(others);
        if (late !== undefined && late !== event)
          this.#look(event, late, event.kind === abi.MessageKind.fromRoot ? 'late root' : 'late rank');
      }
    }
  }

  /** The waits of each member, sorted by end. */
  find(): Wait[][] {
    this.#messages();
    this.#collectives();
    return this.#waits.map((waits) => [...waits.values()].sort(byEnd));
  }

  /** The clock offset to add to the member's times; null if unknown. */
  offset(member: number): number | null {
    return this.#offsets[member] ?? null;
  }
}

/** The maximum number of steps of the path. A path that is cut is shorter than the job's elapsed time. */
const mostSteps = 2_000_000;

/**
 * Follows the path backwards from the end of the rank that ended last. At a call that waited, it continues on the late
 * rank, at the time of the late event; the time from there to the end of the call is the message's.
 */
function pathOf(
  waits: readonly (readonly Wait[])[],
  ranks: readonly Pick<RowOf<'ranks'>, 'first_ns' | 'elapsed_ns'>[],
  finder: Finder,
): RowOf<'job_path'>[] {
  const rows = new Map<string, RowOf<'job_path'>>();
  const add = (member: number, after: number, until: number, what: 'rank' | 'message', ns: number): void => {
    if (ns <= 0) return;
    const key = `${member} ${after} ${until} ${what}`;
    const row = rows.get(key);
    if (row) {
      row.segments++;
      row.ns += ns;
    } else rows.set(key, { member, after, until, what, segments: 1, ns });
  };
  const endOf = (k: number): number => {
    const { first_ns, elapsed_ns } = item(ranks, k);
    return first_ns + elapsed_ns + (finder.offset(k) ?? -Infinity);
  };
  let member = ranks.reduce((last, _, k) => (endOf(k) > endOf(last) ? k : last), 0);
  let now = endOf(member);
  let until = 0;
  const left = waits.map(({ length }) => length);
  for (let step = 0; step < mostSteps; step++) {
    const its = item(waits, member);
    let at = item(left, member);
    while (at > 0 && item(its, at - 1).endNs > now) at--;
    const wait = its[at - 1];
    if (wait === undefined) {
      add(member, 0, until, 'rank', now - item(ranks, member).first_ns - (finder.offset(member) ?? 0));
      break;
    }
    left[member] = at - 1;
    add(member, wait.event.call, until, 'rank', now - wait.endNs);
    add(member, wait.event.call, wait.event.call, 'message', wait.endNs - wait.lateNs);
    now = Math.min(now, wait.lateNs);
    until = wait.late.call;
    ({ member } = wait.late);
  }
  return [...rows.values()].sort((a, b) => b.ns - a.ns);
}

/** The rows of the tables `lateness`, `delays` and `job_path`. There is no path if events were left out. */
export function latenessOf(
  events: JobEvents,
  ranks: readonly Pick<RowOf<'ranks'>, 'host' | 'first_ns' | 'elapsed_ns'>[],
  aloneShare: (member: number, call: number) => number = () => 1,
): { lateness: RowOf<'lateness'>[]; delays: RowOf<'delays'>[]; path: RowOf<'job_path'>[] } {
  const finder = new Finder(
    events,
    ranks.map(({ host }) => host),
  );
  const waits = finder.find();
  const rows = new Map<string, RowOf<'lateness'>>();
  for (const its of waits)
    for (const { event, late, pattern, ns } of its) {
      const key = `${event.member} ${late.member} ${event.call} ${pattern}`;
      const row = rows.get(key) ?? {
        member: event.member,
        late_member: late.member,
        entity: event.call,
        pattern,
        waits: 0,
        ns: 0,
        most_ns: 0,
      };
      row.waits += events.scale;
      row.ns += ns * events.scale;
      row.most_ns = Math.max(row.most_ns, ns);
      rows.set(key, row);
    }
  const some = waits.some(({ length }) => length > 0);
  return {
    lateness: [...rows.values()].sort((a, b) => b.ns - a.ns),
    delays: delaysOf(waits, events.scale, aloneShare),
    path: some && events.scale === 1 ? pathOf(waits, ranks, finder) : [],
  };
}
