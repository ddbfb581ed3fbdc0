/**
 * Messages and collectives of all ranks, as logged by the MPI layers, and the matching between them
 * (docs/reference/mpi-layer.md). To bound memory, beyond a limit only events whose number is a multiple of a power of
 * two are kept, the same on all ranks, so that kept events still match.
 */
import { abi, f64, item, u32, type MemberProfile } from '../model/index.js';

/** The maximum number of events kept; each takes about 100 bytes. */
const mostEvents = 4_000_000;

/** An event of a member. Times are in ns of the monotonic clock of its host. */
export interface JobEvent {
  member: number;
  kind: number; // a MessageKind
  postedNs: number;
  beginNs: number;
  ns: number;
  communicator: number;
  number: number;
  peer: number; // the other rank; -1 if none
  tag: number;
  call: number; // entity number in the set; 0 if unknown
}

const isMessage = (kind: number): boolean => kind === abi.MessageKind.sent || kind === abi.MessageKind.received;

export class JobEvents {
  #thinning = 0;
  #count = 0;
  readonly #byMember: JobEvent[][] = [];
  /** Members by rank in MPI_COMM_WORLD. */
  readonly #members = new Map<number, number>();

  /** The number of events that each kept event stands for: 2^thinning. */
  get scale(): number {
    return 2 ** this.#thinning;
  }
  get members(): readonly (readonly JobEvent[])[] {
    return this.#byMember;
  }
  memberOf(rank: number): number | undefined {
    return this.#members.get(rank);
  }

  /** Members must be added in order. `rank`: null if unknown; its events then match no others. */
  add(
    member: number,
    rank: number | null,
    { messages }: Pick<MemberProfile, 'messages'>,
    entity: (id: number) => number,
  ): void {
    const events: JobEvent[] = [];
    this.#byMember[member] = events;
    if (rank !== null) this.#members.set(rank, member);
    const thinning = messages.thinning.length > 0 ? u32(messages.thinning, 0) : 0;
    for (let k = 0; k < messages.ns.length; k++) {
      const call = u32(messages.call, k);
      events.push({
        member,
        kind: u32(messages.kind, k),
        postedNs: f64(messages.postedNs, k),
        beginNs: f64(messages.beginNs, k),
        ns: f64(messages.ns, k),
        communicator: f64(messages.communicator, k),
        number: u32(messages.number, k),
        peer: u32(messages.peer, k) | 0,
        tag: u32(messages.tag, k) | 0,
        call: call === 0 ? 0 : entity(call),
      });
    }
    this.#count += events.length;
    if (thinning > this.#thinning) this.#thin(thinning);
    else if (this.#thinning > 0) this.#thin(this.#thinning);
    while (this.#count > mostEvents && this.#thinning < 31) this.#thin(this.#thinning + 1);
  }

  /** Adds a member without events. */
  skip(member: number): void {
    this.#byMember[member] = [];
  }

  #thin(thinning: number): void {
    this.#thinning = thinning;
    this.#count = 0;
    this.#byMember.forEach((events, member) => {
      const kept = events.filter(({ number }) => number % this.scale === 0);
      this.#byMember[member] = kept;
      this.#count += kept.length;
    });
  }

  /** Messages sent or received on each channel: by communicator, sender, receiver and tag. */
  channels(kind: number): Map<string, Map<number, JobEvent>> {
    const found = new Map<string, Map<number, JobEvent>>();
    for (const events of this.#byMember)
      for (const event of events) {
        if (event.kind !== kind) continue;
        const other = this.#members.get(event.peer);
        if (other === undefined) continue;
        const key = channelOf(event, other);
        let its = found.get(key);
        if (!its) found.set(key, (its = new Map<number, JobEvent>()));
        its.set(event.number, event);
      }
    return found;
  }

  /** The events of each collective operation, as far as they are known. */
  collectives(): JobEvent[][] {
    const found = new Map<string, JobEvent[]>();
    for (const events of this.#byMember)
      for (const event of events) {
        if (isMessage(event.kind)) continue;
        const key = `${event.communicator} ${event.number}`;
        const its = found.get(key);
        if (its) its.push(event);
        else found.set(key, [event]);
      }
    return [...found.values()];
  }
}

/** The key of a channel, the same for sender and receiver. `other`: the member at the other end. */
export function channelOf({ kind, member, communicator, tag }: JobEvent, other: number): string {
  const [from, to] = kind === abi.MessageKind.sent ? [member, other] : [other, member];
  return `${communicator} ${from} ${to} ${tag}`;
}

/**
 * For each member, the offset to add to its times to convert them to the clock of the first member's host. Ranks leave
 * a collective that synchronizes all of them at nearly the same moment; the offset is the median over all such
 * collectives. null if the member's host shares none with the first one.
 */
export function clockOffsets(events: JobEvents, hosts: readonly string[]): (number | null)[] {
  const first = hosts[0] ?? '';
  const differences = new Map<string, number[]>();
  if (new Set(hosts).size > 1)
    for (const all of events.collectives()) {
      const left = new Map<string, number>();
      for (const { member, kind, beginNs, ns } of all) {
        if (kind !== abi.MessageKind.all || ns === 0) continue;
        const host = item(hosts, member);
        left.set(host, Math.min(left.get(host) ?? Infinity, beginNs + ns));
      }
      const base = left.get(first);
      if (base === undefined) continue;
      for (const [host, at] of left) {
        const its = differences.get(host);
        if (its) its.push(base - at);
        else differences.set(host, [base - at]);
      }
    }
  const offsets = new Map(
    [...differences].map(([host, all]) => [host, all.sort((a, b) => a - b)[all.length >> 1] ?? 0]),
  );
  return hosts.map((host) => (host === first ? 0 : (offsets.get(host) ?? null)));
}
