/**
 * The tables of a set of profiles, each a Parquet file of the set's directory: the one definition of their columns.
 * docs/reference/sets.md says what they mean. Times are ns, as doubles (exact up to 104 days), so that every engine
 * adds them without conversion.
 */

/** `int`: 32 bits. `code`: text that has few values. A question mark: null where it is not known. */
export type ColumnType = 'int' | 'int?' | 'double' | 'double?' | 'text' | 'code';
export type Value = number | string | null;

const table = {
  /** One row for each profile: a process. */
  ranks: {
    member: 'int',
    rank: 'int?',
    file: 'text',
    program: 'text',
    arguments: 'text',
    host: 'code',
    machine: 'code',
    pid: 'int',
    quartz: 'code',
    status: 'code',
    exit_status: 'int',
    started_ns: 'double',
    first_ns: 'double',
    elapsed_ns: 'double',
    processors: 'int',
    cpus: 'int',
    threads: 'int',
    snapshots: 'int',
    npt_ns: 'double',
    useful_ns: 'double',
    overhead_ns: 'double',
    spinning_ns: 'double',
    idle_ns: 'double',
    nothing_ran_ns: 'double',
    mpi_ns: 'double',
    cpu_run_ns: 'double',
    cpu_wait_ns: 'double',
    user_ns: 'double?',
    system_ns: 'double?',
    resident_bytes: 'double?',
  },
  /** What time is charged to: each once, whichever ranks have it. */
  entities: { entity: 'int', kind: 'code', name: 'text', file: 'text', line: 'int', module: 'code', waits_for: 'code' },
  /** Call paths that share their beginnings: each once; 0 is the empty one. */
  contexts: { context: 'int', parent: 'int', entity: 'int', depth: 'int' },
  /** What each thread did where. */
  facts: {
    member: 'int',
    thread: 'int',
    context: 'int',
    state: 'code',
    waiting: 'code',
    ns: 'double',
    npt_ns: 'double',
    idle_ns: 'double',
    spin_ns: 'double',
    observations: 'double',
  },
  /** The same by what it is charged to. */
  costs: {
    member: 'int',
    entity: 'int',
    npt_ns: 'double',
    npt_self_ns: 'double',
    processor_ns: 'double',
    wait_ns: 'double',
    alone_ns: 'double',
  },
  threads: {
    member: 'int',
    thread: 'int',
    entity: 'int',
    serial: 'int',
    first_ns: 'double',
    last_ns: 'double',
  },
  /** Objects that threads waited for. */
  objects: {
    member: 'int',
    entity: 'int',
    instances: 'double',
    acquisitions: 'double',
    contended: 'double',
    wait_ns: 'double',
    wait_max_ns: 'double',
    spin_ns: 'double',
    hold_ns: 'double',
    hold_max_ns: 'double',
    queue_ns: 'double',
  },
  /** The time path of each process by what was done. */
  path: {
    member: 'int',
    context: 'int',
    thread: 'int',
    object: 'int',
    state: 'code',
    segments: 'double',
    ns: 'double',
  },
  /** Who waited for whom, at which call of MPI. */
  lateness: {
    member: 'int',
    late_member: 'int',
    entity: 'int',
    pattern: 'code',
    waits: 'double',
    ns: 'double',
    most_ns: 'double',
  },
  /** The path through the whole job: from one call of MPI to the next, by rank. */
  job_path: { member: 'int', after: 'int', until: 'int', what: 'code', segments: 'double', ns: 'double' },
  /** Elapsed time of each process by the number of busy and of spinning processors. */
  levels: { member: 'int', busy: 'int', spinning: 'int', ns: 'double' },
  /** Over all ranks, by what time is charged to. */
  summary: {
    entity: 'int',
    ranks: 'int',
    npt_mean_ns: 'double',
    npt_min_ns: 'double',
    npt_max_ns: 'double',
    npt_max_member: 'int',
    npt_core_ns: 'double',
    self_mean_ns: 'double',
    self_max_ns: 'double',
    self_core_ns: 'double',
    wait_mean_ns: 'double',
    wait_min_ns: 'double',
    wait_min_member: 'int',
    wait_max_ns: 'double',
    wait_max_member: 'int',
    alone_mean_ns: 'double',
    alone_min_ns: 'double',
    alone_min_member: 'int',
    alone_max_ns: 'double',
    alone_max_member: 'int',
    alone_core_ns: 'double',
  },
  /** What limits some ranks, in the words of their reports. */
  findings: {
    member: 'int',
    nth: 'int',
    kind: 'code',
    cost_ns: 'double',
    saving_ns: 'double',
    text: 'text',
    remedy: 'text',
  },
  /** Ranks that are far from the others. */
  outliers: {
    member: 'int',
    quantity: 'code',
    entity: 'int',
    value_ns: 'double',
    median_ns: 'double',
    score: 'double',
  },
} as const satisfies Record<string, Record<string, ColumnType>>;

export type TableName = keyof typeof table;
export type ColumnOf<T extends TableName> = keyof (typeof table)[T] & string;
type ValueOf<Type> = Type extends 'int' | 'double' ? number : Type extends 'text' | 'code' ? string : number | null;
export type RowOf<T extends TableName> = { -readonly [C in keyof (typeof table)[T]]: ValueOf<(typeof table)[T][C]> };

export const tables: Readonly<Record<TableName, Readonly<Record<string, ColumnType>>>> = table;
export const tableNames = Object.keys(table) as readonly TableName[];
