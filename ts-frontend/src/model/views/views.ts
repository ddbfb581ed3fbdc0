/**
 * Three views of where time goes (Adhianto et al. 2010, section 7.1): by calling context from the top down, by callers
 * from the bottom up, and flat by module, file and procedure. In each view, the rows of a level add up to their parent.
 * Pure.
 */
import { u32 } from '../profile/columns.js';
import { tablesOf } from '../metrics/tables.js';
import { isCode, procedureOf } from '../profile/code-scopes.js';
import { PairIndex } from '../profile/pair-index.js';
import type { Stacks } from '../profile/stack-tree.js';
import type { Model } from '../result/types.js';
import { addCosts, contextTree, costsAt, walkTree, type ContextTree } from './context-tree.js';
import { costCount } from './costs.js';
import { byCost, type Subject, type ViewRow } from './rows.js';

export type ViewName = 'tree' | 'callers' | 'flat';

/** Which places in code have nodes of their own: none, loops, or both loops and source lines. */
export type Detail = 'procedures' | 'loops' | 'lines';

const known = new WeakMap<Stacks, ContextTree>();
/** The calling context tree with that level of detail. */
export function treeOf(model: Model, detail: Detail): ContextTree {
  const tables = tablesOf(model);
  const { stacks, loops, lines } = tables;
  const its = detail === 'lines' ? lines : detail === 'loops' ? loops : { raw: model.raw, stacks };
  let tree = known.get(its.stacks);
  if (!tree) known.set(its.stacks, (tree = contextTree(its.raw, its.stacks, tables)));
  return tree;
}

/**
 * The root row of a view, the whole program, from which all others are opened. For models made by buildModel. Callers
 * are always procedures.
 */
export function viewOf(model: Model, name: ViewName, detail: Detail = 'loops'): ViewRow {
  switch (name) {
    case 'tree':
      return contextRow(treeOf(model, detail), 0);
    case 'callers':
      return callersView(treeOf(model, 'procedures'));
    case 'flat':
      return flatView(model, treeOf(model, detail));
  }
}

const children = (tree: ContextTree, node: number): number[] =>
  Array.from(tree.child.subarray(tree.first[node] ?? 0, tree.first[node + 1] ?? 0));
const entityAt = (tree: ContextTree, node: number): Subject => ({ kind: 'entity', entity: tree.entity[node] ?? 0 });

function contextRow(tree: ContextTree, node: number): ViewRow {
  return {
    subject: entityAt(tree, node),
    recursive: tree.recursive[node] === 1,
    total: costsAt(tree.total, node),
    self: costsAt(tree.self, node),
    size: (tree.first[node + 1] ?? 0) - (tree.first[node] ?? 0),
    open: (column) =>
      byCost(
        children(tree, node).map((one) => contextRow(tree, one)),
        column,
      ),
  };
}

/**
 * A group of contexts in a row of the view of callers: `leaf` has the costs, `at` is the ancestor that its path has
 * been followed to.
 */
interface Caller {
  leaf: number;
  at: number;
}

function callersView(tree: ContextTree): ViewRow {
  const all: Caller[] = [];
  for (let n = 1; n < tree.count; n++)
    if (costsAt(tree.self, n).some((amount) => amount !== 0)) all.push({ leaf: n, at: n });
  return {
    subject: { kind: 'entity', entity: 0 },
    recursive: false,
    total: costsAt(tree.total, 0),
    self: costsAt(tree.self, 0),
    size: new Set(all.map(({ at }) => u32(tree.entity, at))).size,
    open: (column) => byCost(callerRows(tree, all), column),
  };
}

/** One row for each entity that the paths have been followed to. */
function callerRows(tree: ContextTree, members: readonly Caller[]): ViewRow[] {
  const groups = new Map<number, Caller[]>();
  for (const one of members) {
    const entity = tree.entity[one.at] ?? 0;
    const known = groups.get(entity);
    if (known) known.push(one);
    else groups.set(entity, [one]);
  }
  return Array.from(groups, ([entity, same]): ViewRow => {
    const costs = new Float64Array(costCount);
    for (const { leaf } of same) addCosts(costs, 0, tree.self, leaf);
    const above = same.map(({ leaf, at }) => ({ leaf, at: tree.parent[at] ?? 0 })).filter(({ at }) => at !== 0);
    return {
      subject: { kind: 'entity', entity },
      recursive: same.some(({ at }) => tree.recursive[at] === 1),
      total: costs,
      self: costs,
      size: new Set(above.map(({ at }) => u32(tree.entity, at))).size,
      open: (column) => byCost(callerRows(tree, above), column),
    };
  });
}

/** For a place in code, the procedure that contains it; else 0. Groups stand for their members. */
function scopeOf(model: Model, id: number): number {
  const entity = model.entities[id];
  if (entity === undefined || !isCode(entity.rawKind)) return 0;
  const scope = procedureOf(model.raw, entity.members[0] ?? id);
  return model.entities[scope]?.group || scope;
}

/** A row of the flat view: its costs are in `row` of those of its Parts. */
interface Part {
  subject: Subject;
  row: number;
  below: Map<number | string, Part> | null; // by entity or path; null: none yet
  onPath: number; // number of occurrences on the path to the current node
}

/** All rows of the flat view, their costs side by side, since there may be 100,000. */
class Parts {
  total: Float64Array = new Float64Array(64 * costCount);
  self: Float64Array = new Float64Array(64 * costCount);
  #count = 0;

  add(subject: Subject): Part {
    const row = this.#count++;
    if (this.total.length < this.#count * costCount) {
      this.total = grown(this.total);
      this.self = grown(this.self);
    }
    return { subject, row, below: null, onPath: 0 };
  }

  within(part: Part, key: number | string, subject: () => Subject): Part {
    part.below ??= new Map();
    let found = part.below.get(key);
    if (!found) part.below.set(key, (found = this.add(subject())));
    return found;
  }
}
function grown(costs: Float64Array): Float64Array {
  const more = new Float64Array(2 * costs.length);
  more.set(costs);
  return more;
}

/** The rows of the flat view that contain a node of the tree, from its module on. */
class Places {
  readonly parts = new Parts();
  readonly whole = this.parts.add({ kind: 'entity', entity: 0 });
  readonly #all: (readonly Part[])[] = [[]]; // by number, from 1 on
  readonly #byNode: Uint32Array;
  readonly #numbers: PairIndex; // by entity, and the place that it is in
  constructor(
    private readonly model: Model,
    private readonly tree: ContextTree,
  ) {
    this.#byNode = new Uint32Array(tree.count);
    this.#numbers = new PairIndex(tree.count);
  }

  at = (node: number): readonly Part[] => this.#all[this.#place(node)] ?? [];

  #place(node: number): number {
    const known = u32(this.#byNode, node);
    return known === 0 ? (this.#byNode[node] = this.#find(node)) : known;
  }

  #find(node: number): number {
    const entity = u32(this.tree.entity, node),
      scope = this.#around(node),
      around = scope === 0 ? 0 : this.#place(scope);
    const number = this.#numbers.findOrAdd(entity, around, this.#all.length);
    if (number === this.#all.length) {
      const outer = around === 0 ? this.#file(entity) : (this.#all[around] ?? []);
      const inside = outer[outer.length - 1] ?? this.whole;
      this.#all.push([...outer, this.parts.within(inside, entity, () => ({ kind: 'entity', entity }))]);
    }
    return number;
  }

  /**
   * The node of the loop that a line is in, or of the procedure that contains a line or loop; 0 for what is no place in
   * code. If that procedure is not on the path (its hook had not been called yet when the sample was taken), the
   * procedure that is, to which tables attribute the time, too.
   */
  #around(node: number): number {
    const { parent, entity } = this.tree;
    const kind = (n: number): string | undefined => this.model.entities[u32(entity, n)]?.rawKind;
    const scope = scopeOf(this.model, u32(entity, node));
    if (kind(node) === 'code-line' && kind(u32(parent, node)) === 'code-loop') return u32(parent, node);
    if (scope === 0) return 0;
    let nearest = 0;
    for (let n = u32(parent, node); n !== 0; n = u32(parent, n)) {
      if (u32(entity, n) === scope) return n;
      if (nearest === 0 && kind(n) === 'procedure') nearest = n;
    }
    return nearest;
  }

  #file(entity: number): Part[] {
    const { module, file } = this.model.entities[entity] ?? { module: '', file: '' };
    const its = this.parts.within(this.whole, module, () => ({ kind: 'module', path: module }));
    return [its, this.parts.within(its, file, () => ({ kind: 'file', path: file }))];
  }
}

/** A part is charged with a context once, however often it is on the path. */
function flatView(model: Model, tree: ContextTree): ViewRow {
  const places = new Places(model, tree);
  const { whole, parts } = places;
  addCosts(parts.total, whole.row, tree.total, 0);
  addCosts(parts.self, whole.row, tree.self, 0);
  walkTree(
    tree,
    (node) => {
      if (node === 0) return;
      for (const part of places.at(node)) {
        if (part.onPath++ === 0) addCosts(parts.total, part.row, tree.total, node);
        addCosts(parts.self, part.row, tree.self, node);
      }
    },
    (node) => {
      if (node !== 0) for (const part of places.at(node)) part.onPath--;
    },
  );
  return flatRow(parts, whole);
}

function flatRow(parts: Parts, { subject, row, below }: Part): ViewRow {
  return {
    subject,
    recursive: false,
    total: costsAt(parts.total, row),
    self: costsAt(parts.self, row),
    size: below?.size ?? 0,
    open: (column) =>
      byCost(
        Array.from(below?.values() ?? [], (part) => flatRow(parts, part)),
        column,
      ),
  };
}
