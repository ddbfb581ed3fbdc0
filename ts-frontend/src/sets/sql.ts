/**
 * The tables and predefined views of sets as SQL (docs/reference/sets.md, "SQL"), in DuckDB's dialect. The views have
 * the same columns and definitions as those of views.ts, but are computed from the large tables; a test compares the
 * two. Pure functions.
 */
import { leastDistance, leastRanks, meanScale, medianScale, outlierScore, rankQuantities } from './statistics.js';
import { tableNames } from './tables.js';
import { nothingRuns, wholeJob, wholeProcess } from './views.js';

interface SqlSet {
  name: string;
  folder: string;
  parameters: Readonly<Record<string, string>>;
  work: number; // the amount of work in relation to the other sets; 1 for all if the work is the same
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const ofProcesses = "waits_for IN ('message', 'collective', 'processes')";

function tableSql(table: string, sets: readonly SqlSet[]): string {
  const columns = table === 'ranks' ? '* REPLACE (coalesce(rank, member) AS rank)' : '*';
  const parts = sets.map(
    ({ name, folder }) =>
      `SELECT ${quoted(name)} AS run, ${columns} FROM read_parquet(${quoted(`${folder}/${table}.parquet`)})`,
  );
  return `CREATE VIEW ${table} AS ${parts.join(' UNION ALL ')}`;
}

const valuesSql = (head: string, rows: readonly string[], none: string): string =>
  rows.length === 0
    ? `CREATE VIEW ${head} AS SELECT ${none} WHERE false`
    : `CREATE VIEW ${head} AS SELECT * FROM (VALUES ${rows.join(', ')})`;

const core = `
CREATE VIEW jobs AS
SELECT run, count(*) AS ranks, sum(processors) AS cores, sum(processors * elapsed_ns) AS core_ns,
  max(elapsed_ns) AS elapsed_ns
FROM ranks GROUP BY run`;

/** Ranks without an entity count as 0; among equal ones, the first is the least. */
const imbalance = `
CREATE VIEW imbalance AS
SELECT c.run, e.kind, count(*) AS ranks, sum(c.npt_ns) / any_value(j.ranks) AS mean_ns,
  CASE WHEN count(*) < any_value(j.ranks) THEN 0 ELSE min(c.npt_ns) END AS min_ns, max(c.npt_ns) AS max_ns,
  arg_max(r.rank, (c.npt_ns, -c.member)) AS max_rank,
  max(c.npt_ns) - sum(c.npt_ns) / any_value(j.ranks) AS imbalance_ns,
  (max(c.npt_ns) - sum(c.npt_ns) / any_value(j.ranks)) / max(c.npt_ns) AS imbalance_share,
  sum(c.npt_ns * r.processors) / any_value(j.core_ns) AS core_share,
  CASE WHEN c.entity = 0 THEN ${quoted(wholeProcess)} ELSE e.name END AS name, e.file, e.line
FROM costs c JOIN entities e USING (run, entity) JOIN ranks r USING (run, member) JOIN jobs j USING (run)
WHERE e.kind <> 'thread'
GROUP BY c.run, c.entity, e.kind, e.name, e.file, e.line HAVING max(c.npt_ns) > 0
ORDER BY c.run, imbalance_ns DESC`;

const mpi = `
CREATE VIEW mpi AS
WITH calls AS (
  SELECT c.run, c.entity FROM costs c JOIN entities USING (run, entity)
  WHERE ${ofProcesses} GROUP BY c.run, c.entity HAVING max(c.alone_ns) > 0
), of_all AS (
  SELECT k.run, k.entity, r.member, r.rank, r.processors, c.entity IS NOT NULL AS there, coalesce(c.alone_ns, 0) AS ns
  FROM calls k JOIN ranks r USING (run)
  LEFT JOIN costs c ON c.run = k.run AND c.entity = k.entity AND c.member = r.member
)
SELECT o.run, waits_for, count(*) FILTER (there) AS ranks, avg(ns) AS mean_ns, max(ns) AS max_ns,
  arg_max(rank, (ns, -member)) AS max_rank, min(ns) AS min_ns, arg_min(rank, (ns, member)) AS min_rank,
  avg(ns) - min(ns) AS longer_ns, sum(ns * processors) / any_value(j.core_ns) AS core_share, name, file, line
FROM of_all o JOIN entities USING (run, entity) JOIN jobs j USING (run)
GROUP BY o.run, o.entity, waits_for, name, file, line
ORDER BY run, mean_ns DESC`;

const byEntity = (quantity: string): string => `
  SELECT k.run, r.member, '${quantity}' AS quantity, k.entity, coalesce(c.${quantity}, 0) AS value_ns
  FROM (
    SELECT c.run, c.entity FROM costs c JOIN entities USING (run, entity) JOIN jobs j USING (run)
    WHERE kind <> 'thread' AND c.entity <> 0
    GROUP BY c.run, c.entity HAVING max(c.${quantity}) >= ${leastDistance} * any_value(j.elapsed_ns)
  ) k JOIN ranks r USING (run) LEFT JOIN costs c ON c.run = k.run AND c.entity = k.entity AND c.member = r.member`;

const outliers = `
CREATE VIEW outliers AS
WITH quantities AS (${[
  ...rankQuantities.map(
    (one) => `\n  SELECT run, member, '${one}' AS quantity, 0 AS entity, ${one} AS value_ns FROM ranks`,
  ),
  byEntity('npt_ns'),
  byEntity('wait_ns'),
].join(' UNION ALL ')}
), medians AS (
  SELECT run, quantity, entity, median(value_ns) AS median_ns FROM quantities GROUP BY ALL
), distances AS (
  SELECT *, abs(value_ns - median_ns) AS distance FROM quantities JOIN medians USING (run, quantity, entity)
), scales AS (
  SELECT run, quantity, entity,
    CASE WHEN median(distance) > 0 THEN median(distance) / ${medianScale} ELSE avg(distance) * ${meanScale} END AS scale
  FROM distances GROUP BY ALL
)
SELECT d.run, r.rank, r.host, quantity, value_ns, median_ns, (value_ns - median_ns) / scale AS score,
  CASE WHEN entity = 0 THEN ${quoted(wholeProcess)} ELSE name END AS name, e.file
FROM distances d JOIN scales USING (run, quantity, entity) JOIN ranks r USING (run, member)
  JOIN entities e USING (run, entity) JOIN jobs j USING (run)
WHERE j.ranks >= ${leastRanks} AND scale > 0 AND distance / scale > ${outlierScore}
  AND distance >= ${leastDistance} * j.elapsed_ns
ORDER BY run, distance DESC`;

const scaling = `
CREATE VIEW scaling AS
WITH charged AS (
  SELECT run, kind, name, file, sum((npt_self_ns + alone_ns) * processors) AS core_ns
  FROM costs JOIN entities USING (run, entity) JOIN (SELECT run, member, processors FROM ranks) USING (run, member)
  WHERE kind <> 'thread' AND entity <> 0 GROUP BY ALL HAVING sum((npt_self_ns + alone_ns) * processors) > 0
  UNION ALL SELECT run, 'job', ${quoted(wholeJob)}, '', core_ns FROM jobs
  UNION ALL SELECT run, 'idle', ${quoted(nothingRuns)}, '', sum(processors * greatest(0, nothing_ran_ns - mpi_ns))
  FROM ranks GROUP BY run
), runs AS (
  SELECT *, row_number() OVER (ORDER BY cores, place) AS nth FROM jobs JOIN work USING (run)
), base AS (SELECT run, work FROM runs WHERE nth = 1), what AS (SELECT DISTINCT kind, name, file FROM charged),
all_of_it AS (
  SELECT r.run, r.cores, r.core_ns AS job_ns, r.nth, what.*, coalesce(c.core_ns, 0) AS core_ns,
    coalesce(b.core_ns, 0) * r.work / base.work AS expected_ns
  FROM what CROSS JOIN runs r CROSS JOIN base
  LEFT JOIN charged c ON c.run = r.run AND (c.kind, c.name, c.file) = (what.kind, what.name, what.file)
  LEFT JOIN charged b ON b.run = base.run AND (b.kind, b.name, b.file) = (what.kind, what.name, what.file)
)
SELECT run, cores, core_ns, expected_ns, CASE WHEN expected_ns > 0 THEN core_ns / expected_ns END AS growth,
  core_ns - expected_ns AS excess_ns, (core_ns - expected_ns) / job_ns AS excess_share, kind, name, file
FROM all_of_it
ORDER BY CASE WHEN kind = 'job' THEN 'infinity'::DOUBLE
  ELSE sum(core_ns - expected_ns) OVER (PARTITION BY kind, name, file) END DESC, kind, name, file, nth`;

/** The statements that create all tables and views. */
export function schemaSql(sets: readonly SqlSet[]): string[] {
  const parameters = sets.flatMap(({ name, parameters: own }) =>
    Object.entries(own).map(([key, value]) => `(${quoted(name)}, ${quoted(key)}, ${quoted(value)})`),
  );
  const work = sets.map(({ name, work: value }, place) => `(${quoted(name)}, ${place}, ${value}::DOUBLE)`);
  return [
    ...tableNames.filter((table) => table !== 'outliers').map((table) => tableSql(table, sets)),
    valuesSql('parameters(run, name, value)', parameters, "'', '', ''"),
    valuesSql('work(run, place, work)', work, "'', 0, 1"),
    core,
    imbalance,
    mpi,
    outliers,
    scaling,
  ];
}
