/** Copies the rows of a set into a larger set, so that sets that were merged on each node can be merged into one. */
import { item } from '../model/index.js';
import type { Interner } from './intern.js';
import type { Emit } from './member-rows.js';
import { checkEnd, readGroups, readRows } from './parquet.js';
import { tables, type RowOf, type TableName, type Value } from './tables.js';

/** Tables whose rows are copied, with numbers translated to those of the larger set. */
const copied = [
  'facts',
  'threads',
  'objects',
  'path',
  'lateness',
  'delays',
  'levels',
] as const satisfies readonly TableName[];

/** Maps numbers of this set to numbers of the larger one. */
class Numbers {
  readonly #entities: readonly number[];
  readonly #contexts: number[] = [];
  constructor(
    private readonly firstMember: number,
    interner: Interner,
    entities: readonly RowOf<'entities'>[],
    contexts: readonly RowOf<'contexts'>[],
  ) {
    this.#entities = entities.map(({ entity, ...row }) => (entity === 0 ? 0 : interner.entity(row)));
    for (const { context, parent, entity } of contexts)
      this.#contexts[context] = context === 0 ? 0 : interner.context(item(this.#contexts, parent), this.entity(entity));
  }
  entity(number: number): number {
    return item(this.#entities, number);
  }
  /** Translates the numbers in a row to those of the larger set. */
  row<T extends TableName>(row: RowOf<T>): RowOf<T> {
    const made: Record<string, Value> = { ...row };
    const change = (name: string, to: (number: number) => number): void => {
      const its = made[name];
      if (typeof its === 'number') made[name] = to(its);
    };
    change('member', (member) => member + this.firstMember);
    change('context', (context) => item(this.#contexts, context));
    change('late_member', (member) => member + this.firstMember);
    change('cause_member', (member) => member + this.firstMember);
    change('until', (entity) => this.entity(entity));
    change('entity', (entity) => this.entity(entity));
    change('object', (entity) => this.entity(entity));
    return made as RowOf<T>;
  }
}

/** Iterates over the rows of a table; memory for one row group. */
async function* rowsOf<T extends TableName>(folder: string, table: T): AsyncGenerator<RowOf<T>> {
  const names = Object.keys(tables[table]);
  for await (const columns of readGroups(folder, table, names)) {
    const count = columns[names[0] ?? '']?.length ?? 0;
    for (let k = 0; k < count; k++)
      yield Object.fromEntries(names.map((name) => [name, columns[name]?.[k] ?? null])) as RowOf<T>;
  }
}

/**
 * A set whose tables are complete as far as their footers and `ranks` show. Opening it throws if one is missing or
 * damaged.
 */
interface OpenSet {
  folder: string;
  ranks: readonly RowOf<'ranks'>[];
  entities: readonly RowOf<'entities'>[];
  contexts: readonly RowOf<'contexts'>[];
}
export async function openSet(folder: string): Promise<OpenSet> {
  for (const table of [...copied, 'costs', 'findings'] as const) await checkEnd(folder, table);
  const [ranks, entities, contexts] = [
    await readRows(folder, 'ranks'),
    await readRows(folder, 'entities'),
    await readRows(folder, 'contexts'),
  ];
  return { folder, ranks, entities, contexts };
}

/**
 * Emits all rows of a set except statistics and the tables `entities` and `contexts`, which the interner receives;
 * returns for each member the rows needed for statistics. Throws if a table is damaged.
 */
export async function setRows(
  { folder, ranks, entities, contexts }: OpenSet,
  firstMember: number,
  interner: Interner,
  emit: Emit,
  member: (rank: RowOf<'ranks'>, costs: readonly RowOf<'costs'>[]) => void,
): Promise<void> {
  const numbers = new Numbers(firstMember, interner, entities, contexts);
  for (const table of copied)
    for await (const row of rowsOf(folder, table)) emit(table, numbers.row<typeof table>(row));
  let next = 0;
  let costs: RowOf<'costs'>[] = [];
  const finish = (): void => {
    const rank = numbers.row<'ranks'>(item(ranks, next++));
    emit('ranks', rank);
    member(rank, costs);
    costs = [];
  };
  for await (const row of rowsOf(folder, 'costs')) {
    while (next < row.member) finish();
    const its = numbers.row<'costs'>(row);
    emit('costs', its);
    costs.push(its);
  }
  while (next < ranks.length) finish();
}
