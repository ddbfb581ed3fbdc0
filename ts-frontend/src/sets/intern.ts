/** Stores what ranks have in common once: entities by identity, call paths by parent and entity. */
import { item } from '../model/index.js';
import type { RowOf } from './tables.js';

type EntityRow = RowOf<'entities'>;

export class Interner {
  readonly entities: EntityRow[] = [
    { entity: 0, kind: 'process', name: '', file: '', line: 0, module: '', waits_for: '' },
  ];
  readonly parents: number[] = [0];
  readonly tops: number[] = [0];
  readonly depths: number[] = [0];
  /**
   * 1 if no ancestor of the context has the same entity. Inclusive time is charged only there, so that recursion counts
   * once.
   */
  readonly first: number[] = [1];
  readonly #entityOf = new Map<string, number>();
  readonly #contextOf = new Map<number, number>();

  /**
   * Two entities are the same if a reader could not distinguish them. The module is compared if the source is unknown.
   */
  entity(row: Omit<EntityRow, 'entity'>): number {
    const { kind, name, file, line, module } = row;
    const key = `${kind}\0${name}\0${file}\0${line}\0${file === '' ? module : ''}`;
    const known = this.#entityOf.get(key);
    if (known !== undefined) return known;
    const entity = this.entities.length;
    this.entities.push({ entity, ...row });
    this.#entityOf.set(key, entity);
    return entity;
  }

  context(parent: number, entity: number): number {
    const key = parent * 2 ** 26 + entity;
    const known = this.#contextOf.get(key);
    if (known !== undefined) return known;
    const context = this.parents.length;
    let first = 1;
    for (let at = parent; at !== 0 && first === 1; at = item(this.parents, at))
      if (item(this.tops, at) === entity) first = 0;
    this.parents.push(parent);
    this.tops.push(entity);
    this.depths.push(item(this.depths, parent) + 1);
    this.first.push(first);
    this.#contextOf.set(key, context);
    return context;
  }
}
