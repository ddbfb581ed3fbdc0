/**
 * Root causes of waits: if the rank that came late was itself waiting for a third one, the third one delayed both
 * (Böhme, Geimer, Arnold, Voigtlaender, Wolf, "Identifying the root causes of wait states in large-scale parallel
 * applications", 2010). docs/reference/sets.md, "What limits a job". Pure functions.
 */
import { item } from '../model/index.js';
import type { Wait } from './waits.js';
import type { RowOf } from './tables.js';

/** A part of a wait, in which the rank `cause` had not come to its call `until`, and did not itself wait. */
interface Piece {
  beginNs: number;
  endNs: number;
  cause: number;
  until: number;
}

const beginOf = ({ endNs, event }: Wait): number => endNs - event.ns;
/** When the wait, a part of its call, ended. */
const overOf = (wait: Wait): number => beginOf(wait) + wait.ns;
const none: readonly Piece[] = [];

/** Longer chains of ranks that wait for each other are cut: what is beyond is charged to the last rank. */
const longestChain = 500;
/** Pieces of one wait; beyond, the rest is charged to the rank that came late. */
const mostPieces = 64;

class Causes {
  readonly #pieces = new Map<Wait, readonly Piece[]>();

  /** `waits`: of each member, sorted by end. */
  constructor(private readonly waits: readonly (readonly Wait[])[]) {}

  /** The first wait of the member that ends after `ns`. */
  #firstAfter(member: number, ns: number): number {
    const its = item(this.waits, member);
    let low = 0,
      high = its.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (overOf(item(its, middle)) <= ns) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  of(wait: Wait, depth = 0): readonly Piece[] {
    const known = this.#pieces.get(wait);
    if (known !== undefined) return known;
    this.#pieces.set(wait, none); // clocks that are not aligned exactly may show ranks that wait for each other
    const { late } = wait;
    const pieces: Piece[] = [];
    const add = (beginNs: number, endNs: number, cause: number, until: number): void => {
      if (endNs > beginNs) pieces.push({ beginNs, endNs, cause, until });
    };
    let at = beginOf(wait);
    const over = overOf(wait);
    const its = item(this.waits, late.member);
    for (let k = this.#firstAfter(late.member, at); k < its.length && pieces.length < mostPieces; k++) {
      const other = item(its, k);
      if (beginOf(other) >= over || depth === longestChain) break;
      for (const { beginNs, endNs, cause, until } of this.of(other, depth + 1)) {
        const [begin, end] = [Math.max(beginNs, at), Math.min(endNs, over)];
        if (end <= begin) continue;
        add(at, begin, late.member, other.event.call);
        add(begin, end, cause, until);
        at = end;
      }
    }
    add(at, over, late.member, late.call);
    this.#pieces.set(wait, pieces);
    return pieces;
  }
}

/**
 * The rows of the table `delays`. `aloneShare`: the elapsed time of a member in which threads wait at a call while none
 * of its process works, or could, as a share of their time there; threads that wait at the same time share it.
 */
export function delaysOf(
  waits: readonly (readonly Wait[])[],
  scale: number,
  aloneShare: (member: number, call: number) => number,
): RowOf<'delays'>[] {
  const causes = new Causes(waits);
  const rows = new Map<string, RowOf<'delays'>>();
  for (const its of waits)
    for (const wait of its)
      for (const { beginNs, endNs, cause, until } of causes.of(wait)) {
        const { member, call } = wait.event;
        const late = wait.late.member;
        const key = `${member} ${late} ${cause} ${call} ${until} ${wait.pattern}`;
        const row = rows.get(key) ?? {
          member,
          late_member: late,
          cause_member: cause,
          entity: call,
          until,
          pattern: wait.pattern,
          ns: 0,
          alone_ns: 0,
        };
        row.ns += (endNs - beginNs) * scale;
        row.alone_ns = row.ns * aloneShare(member, call);
        rows.set(key, row);
      }
  return [...rows.values()].sort((a, b) => b.ns - a.ns);
}
