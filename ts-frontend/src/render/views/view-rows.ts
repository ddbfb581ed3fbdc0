/** Selects the rows of a view: the whole hot path, then the rows with the highest cost. */
import { costIndex, type AmountName, type DerivedMetric, type ViewRow } from '../../model/index.js';

/** What rows are in the order of. */
interface RowOrder {
  /** What decides which rows are shown, and which are on the hot path: a sum over the rows below. */
  cost: (row: ViewRow) => number;
  /** What rows next to each other are sorted by, largest first. */
  sort: (row: ViewRow) => number;
}

/**
 * The order by a column or a metric. A metric that is not a sum over rows (a ratio, a row's own part) does not decide
 * which rows are shown.
 */
export function orderOf(by: AmountName | DerivedMetric): RowOrder {
  if (typeof by !== 'string') return { cost: by.adds ? by.value : orderOf('npt').cost, sort: by.value };
  const column = costIndex[by];
  const cost = (row: ViewRow): number => row.total[column] ?? 0;
  return { cost, sort: cost };
}

export interface ShownRow {
  row: ViewRow;
  depth: number; // 0 for the whole program
  hot: boolean; // whether the row is on the hot path
  parent: number; // index of the parent's row, which comes earlier; -1 for the first row
}

/**
 * A child is on the hot path if it has at least this share of its parent's cost (Adhianto et al. 2010, section 7.2).
 */
const hotShare = 0.5;

interface Node {
  row: ViewRow;
  depth: number;
  hot: boolean;
  below: Node[]; // children that are shown
}

/** At most `most` rows (0 = no limit). Parents come before their children; siblings are sorted. */
export function shownRows(
  root: ViewRow,
  { cost, sort }: RowOrder,
  most: number,
): { rows: ShownRow[]; complete: boolean } {
  const limit = most === 0 ? Infinity : most;
  const waiting = new Heap<{ up: Node; row: ViewRow; hot: boolean }>((a, b) => cost(a.row) > cost(b.row));
  const first: Node = { row: root, depth: 0, hot: true, below: [] };
  let count = 1;
  const open = (node: Node): void => {
    const below = node.row.open(costIndex.npt).sort((a, b) => cost(b) - cost(a));
    below.forEach((row, rank) => {
      const hot = node.hot && rank === 0 && cost(row) > 0 && cost(row) >= hotShare * cost(node.row);
      if (hot && count < limit) show(node, row, true);
      else waiting.push({ up: node, row, hot: false });
    });
  };
  const show = (up: Node, row: ViewRow, hot: boolean): void => {
    const node: Node = { row, depth: up.depth + 1, hot, below: [] };
    up.below.push(node);
    count++;
    open(node);
  };
  open(first);
  for (let next = waiting.pop(); next !== undefined && count < limit; next = waiting.pop()) {
    // Rows without a cost are shown only if there is no limit.
    if (most !== 0 && cost(next.row) <= 0) break;
    show(next.up, next.row, next.hot);
    if (count >= limit) break;
  }
  const rows: ShownRow[] = [];
  const list: { node: Node; parent: number }[] = [{ node: first, parent: -1 }];
  for (let one = list.pop(); one !== undefined; one = list.pop()) {
    const index = rows.push({ ...one.node, parent: one.parent }) - 1;
    const below = one.node.below.sort((a, b) => sort(a.row) - sort(b.row));
    list.push(...below.map((node) => ({ node, parent: index })));
  }
  return { rows, complete: waiting.size === 0 };
}

/** A priority queue; `before(a, b)` is true if a is to be removed before b. */
class Heap<T> {
  private readonly items: T[] = [];
  constructor(private readonly before: (a: T, b: T) => boolean) {}
  get size(): number {
    return this.items.length;
  }
  push(item: T): void {
    const { items, before } = this;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const other = items[up] as T;
      if (!before(item, other)) break;
      items[at] = other;
      at = up;
    }
    items[at] = item;
  }
  pop(): T | undefined {
    const { items, before } = this;
    const top = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return top;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= items.length) break;
      if (down + 1 < items.length && before(items[down + 1] as T, items[down] as T)) down++;
      const other = items[down] as T;
      if (!before(other, last)) break;
      items[at] = other;
      at = down;
    }
    items[at] = last;
    return top;
  }
}
