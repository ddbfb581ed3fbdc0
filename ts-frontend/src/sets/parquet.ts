/**
 * Writes the Parquet files of a set in row groups, and reads them by columns. No other file uses the packages for it
 * (hyparquet-writer and hyparquet: pure JavaScript, no dependencies, together 1 MB).
 */
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead } from 'hyparquet';
import { fileWriter, ParquetWriter, type ColumnSource } from 'hyparquet-writer';
import { join } from 'node:path';
import { defined } from '../model/index.js';
import { tables, type ColumnType, type RowOf, type TableName, type Value } from './tables.js';

const rowsInGroup = 65_536;
const physical = (type: ColumnType): 'INT32' | 'DOUBLE' | 'BYTE_ARRAY' =>
  type.startsWith('int') ? 'INT32' : type.startsWith('double') ? 'DOUBLE' : 'BYTE_ARRAY';

/** Buffers rows of one table, and writes a row group when there are enough. */
export class TableWriter<T extends TableName> {
  readonly #writer: ParquetWriter;
  readonly #columns: { name: string; type: ColumnType; values: Value[] }[];
  #waiting = 0;
  rows = 0;

  constructor(folder: string, table: T) {
    const columns = Object.entries(tables[table]);
    this.#columns = columns.map(([name, type]) => ({ name, type, values: [] }));
    this.#writer = new ParquetWriter({
      writer: fileWriter(join(folder, `${table}.parquet`)),
      schema: [
        { name: 'row', num_children: columns.length },
        ...columns.map(([name, type]) => ({
          name,
          type: physical(type),
          repetition_type: type.endsWith('?') ? ('OPTIONAL' as const) : ('REQUIRED' as const),
          ...(type === 'text' || type === 'code' ? { converted_type: 'UTF8' as const } : {}),
        })),
      ],
      statistics: false, // no query selects by ranges of values, and computing statistics takes half of the time
      createdBy: 'quartz',
    });
  }

  add(row: RowOf<T>): void {
    for (const column of this.#columns) column.values.push(present((row as Record<string, Value>)[column.name]));
    this.rows++;
    if (++this.#waiting === rowsInGroup) this.#flush();
  }

  #flush(): void {
    if (this.#waiting === 0) return;
    const columnData: ColumnSource[] = this.#columns.map(({ name, type, values }) => ({
      name,
      data:
        type === 'int'
          ? Int32Array.from(values as number[])
          : type === 'double'
            ? Float64Array.from(values as number[])
            : values,
      // times rarely repeat, so a dictionary does not help, and compression would save only a fifth
      ...(type === 'double' ? { encoding: 'PLAIN' as const, codec: 'UNCOMPRESSED' as const } : {}),
    }));
    void this.#writer.write({ columnData, rowGroupSize: rowsInGroup });
    for (const column of this.#columns) column.values.length = 0;
    this.#waiting = 0;
  }

  finish(): void {
    this.#flush();
    void this.#writer.finish();
  }
}

function present(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a row lacks a column');
  return value;
}

type Columns<C extends string> = Record<C, ArrayLike<Value>>;

/** Reads columns of a table one row group at a time, to bound memory. */
export async function* readGroups<C extends string>(
  folder: string,
  table: TableName,
  columns: readonly C[],
): AsyncGenerator<Columns<C>> {
  const file = await asyncBufferFromFile(join(folder, `${table}.parquet`));
  const metadata = await parquetMetadataAsync(file);
  const rows = Number(metadata.num_rows);
  for (let begin = 0; begin < rows; begin += rowsInGroup) {
    const end = Math.min(rows, begin + rowsInGroup);
    const found = Object.fromEntries(columns.map((name) => [name, new Array<Value>(end - begin)])) as unknown as Record<
      C,
      Value[]
    >;
    await parquetRead({
      file,
      metadata,
      columns: [...columns],
      rowStart: begin,
      rowEnd: end,
      onChunk: ({ columnName, columnData, rowStart }) => {
        const column = found[columnName as C];
        for (let k = 0; k < columnData.length; k++)
          column[rowStart - begin + k] = (columnData as ArrayLike<Value>)[k] ?? null;
      },
    });
    yield found;
  }
}

/** Throws if the file is missing or truncated; the footer at its end describes the contents. */
export async function checkEnd(folder: string, table: TableName): Promise<void> {
  await parquetMetadataAsync(await asyncBufferFromFile(join(folder, `${table}.parquet`)));
}

/** Reads all rows of a table. */
export async function readRows<T extends TableName>(folder: string, table: T): Promise<RowOf<T>[]> {
  const names = Object.keys(tables[table]);
  const rows: Record<string, Value>[] = [];
  for await (const columns of readGroups(folder, table, names)) {
    const first = rows.length;
    const count = defined(columns[names[0] ?? '']).length;
    for (let k = 0; k < count; k++) rows.push({});
    for (const name of names) {
      const column = defined(columns[name]);
      for (let k = 0; k < count; k++) defined(rows[first + k])[name] = column[k] ?? null;
    }
  }
  return rows as RowOf<T>[];
}
