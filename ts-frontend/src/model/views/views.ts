/**
 * Three views of where time goes (Adhianto et al. 2010, section 7.1): by calling context from the top down, by callers
 * from the bottom up, and flat by module, file and procedure. In each the rows of a level add up to what their parent
 * has. Pure.
 */
import { u32 } from '../profile/columns.js';
import { tablesOf } from '../metrics/tables.js';
import { procedureOf } from '../profile/code-loops.js';
import type { Model } from '../result/types.js';
import { addCosts, contextTree, costsAt, walkTree, type ContextTree } from './context-tree.js';
import { costCount, type Costs } from './costs.js';
import { byCost, type Subject, type ViewRow } from './rows.js';

export type ViewName = 'tree' | 'callers' | 'flat';

const withLoops = new WeakMap<Model, ContextTree>();
const withoutLoops = new WeakMap<Model, ContextTree>();
/** loops: loops of code have nodes of their own. */
function treeOf(model: Model, loops: boolean): ContextTree {
  const { stacks, groupOf, weights, whole } = tablesOf(model);
  const known = loops || whole.raw === model.raw ? withLoops : withoutLoops;
  let tree = known.get(model);
  if (!tree) {
    tree = loops
      ? contextTree(whole.raw, whole.stacks, groupOf, weights)
      : contextTree(model.raw, stacks, groupOf, weights);
    known.set(model, tree);
  }
  return tree;
}

/** The whole program as the one row from which all others of that view are opened. Of a model made by buildModel. */
export function viewOf(model: Model, name: ViewName): ViewRow {
  switch (name) {
    case 'tree':
      return contextRow(treeOf(model, true), 0);
    case 'callers':
      return callersView(treeOf(model, false));
    case 'flat':
      return flatView(model, treeOf(model, true));
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

/** Contexts whose own costs a row of callers has: `leaf` bears them, `at` is where its path has been followed up to. */
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

/** A row for each entity that stands where the paths have been followed to. */
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

/** Of a loop of code, the procedure that it is in; 0: it is no loop. Groups of namesakes stand for their members. */
function scopeOf(model: Model, id: number): number {
  const entity = model.entities[id];
  if (entity?.rawKind !== 'code-loop') return 0;
  const scope = procedureOf(model.raw, entity.members[0] ?? id);
  return model.entities[scope]?.group || scope;
}

/** What a flat row stands for, and the rows below it. */
interface Part {
  subject: Subject;
  total: Costs;
  self: Costs;
  parts: Map<string, Part>;
  onPath: number; // how often it is on the path to the node visited
}
const partFor = (subject: Subject): Part => ({
  subject,
  total: new Float64Array(costCount),
  self: new Float64Array(costCount),
  parts: new Map(),
  onPath: 0,
});
function within(part: Part, key: string, subject: () => Subject): Part {
  let found = part.parts.get(key);
  if (!found) part.parts.set(key, (found = partFor(subject())));
  return found;
}

/** A part is charged with a context once, however often it is on its path. */
function flatView(model: Model, tree: ContextTree): ViewRow {
  const whole = partFor({ kind: 'entity', entity: 0 });
  const partsOf = new Map<number, Part[]>(); // by entity
  const place = (entity: number): Part[] => {
    let parts = partsOf.get(entity);
    if (!parts) {
      const { module, file } = model.entities[entity] ?? { module: '', file: '' };
      const scope = scopeOf(model, entity);
      if (scope !== 0) {
        const around = place(scope);
        const procedure = around[around.length - 1] ?? whole;
        parts = [...around, within(procedure, `${entity}`, () => ({ kind: 'entity', entity }))];
        partsOf.set(entity, parts);
        return parts;
      }
      const its = within(whole, module, () => ({ kind: 'module', path: module }));
      const from = within(its, file, () => ({ kind: 'file', path: file }));
      parts = [its, from, within(from, `${entity}`, () => ({ kind: 'entity', entity }))];
      partsOf.set(entity, parts);
    }
    return parts;
  };
  addCosts(whole.total, 0, tree.total, 0);
  addCosts(whole.self, 0, tree.self, 0);
  walkTree(
    tree,
    (node) => {
      if (node === 0) return;
      for (const part of place(tree.entity[node] ?? 0)) {
        if (part.onPath++ === 0) addCosts(part.total, 0, tree.total, node);
        addCosts(part.self, 0, tree.self, node);
      }
    },
    (node) => {
      if (node !== 0) for (const part of place(tree.entity[node] ?? 0)) part.onPath--;
    },
  );
  return flatRow(whole);
}

function flatRow(part: Part): ViewRow {
  return {
    subject: part.subject,
    recursive: false,
    total: part.total,
    self: part.self,
    size: part.parts.size,
    open: (column) => byCost(Array.from(part.parts.values(), flatRow), column),
  };
}
