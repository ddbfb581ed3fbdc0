/**
 * The costs of source lines: all columns of the views, by file and line. A line is charged while a thread is at it or
 * in what it calls (`total`), or only at it (`self`); a path that contains a line several times counts once. Only for
 * programs whose paths contain lines (docs/reference/loops.md). Pure.
 */
import { defined, f64, item, u32 } from '../profile/columns.js';
import { procedureOf } from '../profile/code-scopes.js';
import type { Model } from '../result/types.js';
import { addCosts, walkTree } from './context-tree.js';
import { costCount, costIndex, type Costs } from './costs.js';
import { treeOf } from './views.js';

export interface SourceLine {
  line: number;
  total: Costs;
  self: Costs;
}
export interface SourceFile {
  path: string;
  total: Costs;
  self: Costs;
  /** Lines with any cost, by number. */
  lines: SourceLine[];
}

/** Sums for a line, or for a file (line 0), during the traversal of contexts. */
class Place {
  readonly total = new Float64Array(costCount);
  readonly self = new Float64Array(costCount);
  depth = 0; // number of occurrences on the path to the current context
  constructor(
    readonly file: string,
    readonly line: number,
  ) {}
}

class Places {
  readonly all = new Map<string, Place>();
  readonly #byEntity = new Map<number, readonly Place[]>();
  constructor(private readonly model: Model) {}

  /** The line that an entity is, and its file; empty for entities that are no lines. */
  of(entity: number): readonly Place[] {
    let places = this.#byEntity.get(entity);
    if (!places) {
      const { rawKind, file, line } = item(this.model.entities, entity);
      places = rawKind === 'code-line' && file !== '' ? [this.#place(file, line), this.#place(file, 0)] : [];
      this.#byEntity.set(entity, places);
    }
    return places;
  }

  #place(file: string, line: number): Place {
    const key = `${line} ${file}`;
    let place = this.all.get(key);
    if (!place) this.all.set(key, (place = new Place(file, line)));
    return place;
  }
}

function addContexts(model: Model, places: Places): void {
  const tree = treeOf(model, 'lines');
  walkTree(
    tree,
    (node) => {
      for (const place of places.of(u32(tree.entity, node))) {
        if (place.depth++ === 0) addCosts(place.total, 0, tree.total, node);
        addCosts(place.self, 0, tree.self, node);
      }
    },
    (node) => {
      for (const place of places.of(u32(tree.entity, node))) place.depth--;
    },
  );
}

const known = new WeakMap<Model, SourceFile[]>();

/** Source files whose lines have costs, largest self time first. For models made by buildModel. */
export function sourceFiles(model: Model): readonly SourceFile[] {
  const before = known.get(model);
  if (before) return before;
  const places = new Places(model);
  addContexts(model, places);
  const files = new Map<string, SourceFile>();
  for (const { file, line, total, self } of places.all.values())
    if (line === 0) files.set(file, { path: file, total, self, lines: [] });
  for (const { file, line, total, self } of places.all.values())
    if (line !== 0) defined(files.get(file)).lines.push({ line, total, self });
  const npt = costIndex.npt;
  const found = [...files.values()].sort((a, b) => f64(b.self, npt) - f64(a.self, npt));
  for (const { lines } of found) lines.sort((a, b) => a.line - b.line);
  known.set(model, found);
  return found;
}

/** The files with that path or, if there are none, those whose path ends with it or else contains it. */
export function findSource(model: Model, name: string): SourceFile[] {
  const files = sourceFiles(model);
  const tries = [
    files.filter(({ path }) => path === name),
    files.filter(({ path }) => path.endsWith(`/${name}`)),
    files.filter(({ path }) => path.includes(name)),
  ];
  return tries.find((found) => found.length > 0) ?? [];
}

/** The line with the largest self time or, if none has any, the largest total time. undefined: there is none. */
export function hottestLine(file: SourceFile): SourceLine | undefined {
  const npt = costIndex.npt;
  return [...file.lines].sort(
    (a, b) => f64(b.self, npt) - f64(a.self, npt) || f64(b.total, npt) - f64(a.total, npt),
  )[0];
}

/**
 * The line with the largest self time in an entity's own source: for a procedure, within it; else the line where it was
 * defined.
 */
export function mainLine(model: Model, id: number): number {
  const { file, line, members } = item(model.entities, id);
  const scopes = members.length > 0 ? members : [id];
  let best = line,
    most = 0;
  for (const one of model.entities) {
    if (one.rawKind !== 'code-line' || one.members.length > 0 || one.file !== file) continue;
    if (one.nptSelfNs > most && scopes.includes(procedureOf(model.raw, one.id))) {
      best = one.line;
      most = one.nptSelfNs;
    }
  }
  return best;
}
