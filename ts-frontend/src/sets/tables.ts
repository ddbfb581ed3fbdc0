/**
 * The only definition of the tables of a set of profiles and their columns; each table is a Parquet file in the set's
 * directory. docs/reference/sets.md explains them. Times are in ns as doubles (exact up to 104 days), so that query
 * engines add them without conversion.
 */

/** `int`: 32 bits. `code`: text with few distinct values. `?`: may be null, which means unknown. */
export type ColumnType = 'int' | 'int?' | 'double' | 'double?' | 'text' | 'code';
export type Value = number | string | null;

const table = {
  /** One row for each profile, that is, for each process. */
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
    starved_ns: 'double',
    mpi_events: 'int',
    cpu_run_ns: 'double',
    cpu_wait_ns: 'double',
    user_ns: 'double?',
    system_ns: 'double?',
    resident_bytes: 'double?',
  },
  /** What time is charged to; each entity once, whichever ranks have it. */
  entities: { entity: 'int', kind: 'code', name: 'text', file: 'text', line: 'int', module: 'code', waits_for: 'code' },
  /** Call paths as a tree: each row adds an entity to its parent; 0 is the empty path. */
  contexts: { context: 'int', parent: 'int', entity: 'int', depth: 'int' },
  /** Time by thread, state and call path. */
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
  /** Time by entity. */
  costs: {
    member: 'int',
    entity: 'int',
    npt_ns: 'double',
    npt_self_ns: 'double',
    processor_ns: 'double',
    wait_ns: 'double',
    alone_ns: 'double',
    beside_ns: 'double',
    blocked_ns: 'double',
  },
  threads: {
    member: 'int',
    thread: 'int',
    entity: 'int',
    serial: 'int',
    first_ns: 'double',
    last_ns: 'double',
  },
  /** Objects for which threads waited. */
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
  /** The time path of each process, summed by activity. */
  path: {
    member: 'int',
    context: 'int',
    thread: 'int',
    object: 'int',
    state: 'code',
    segments: 'double',
    ns: 'double',
  },
  /** Waits of ranks for each other, by MPI call. */
  lateness: {
    member: 'int',
    late_member: 'int',
    entity: 'int',
    pattern: 'code',
    waits: 'double',
    ns: 'double',
    most_ns: 'double',
  },
  /** The same waits by the rank that caused them, which may be another one that the late rank waited for. */
  delays: {
    member: 'int',
    late_member: 'int',
    cause_member: 'int',
    entity: 'int',
    until: 'int',
    pattern: 'code',
    ns: 'double',
    alone_ns: 'double',
  },
  /** The path through the whole job, from MPI call to MPI call, by rank. */
  job_path: { member: 'int', after: 'int', until: 'int', what: 'code', segments: 'double', ns: 'double' },
  /** Elapsed time of each process by number of busy and of spinning processors. */
  levels: { member: 'int', busy: 'int', spinning: 'int', ns: 'double' },
  /** Statistics over all ranks, by entity. */
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
    beside_mean_ns: 'double',
    blocked_mean_ns: 'double',
    alone_mean_ns: 'double',
    alone_min_ns: 'double',
    alone_min_member: 'int',
    alone_max_ns: 'double',
    alone_max_member: 'int',
    alone_core_ns: 'double',
  },
  /** Findings of some ranks, as worded in their reports. */
  findings: {
    member: 'int',
    nth: 'int',
    kind: 'code',
    cost_ns: 'double',
    saving_ns: 'double',
    text: 'text',
    remedy: 'text',
  },
  /** Ranks that are outliers. */
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
type ValueOf<Type> = Type extends 'int' | 'double' ? number : Type extends 'text' | 'code' ? string : number | null;
export type RowOf<T extends TableName> = { -readonly [C in keyof (typeof table)[T]]: ValueOf<(typeof table)[T][C]> };

export const tables: Readonly<Record<TableName, Readonly<Record<string, ColumnType>>>> = table;
export const tableNames = Object.keys(table) as readonly TableName[];
