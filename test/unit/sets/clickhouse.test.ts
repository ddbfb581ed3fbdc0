/** Sets in ClickHouse's engine (test/engines, installed by .ci/run): the same SQL gives the rows of our views. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { needing } from '../../support/capabilities.js';
import { allreduce, jobOf, sourcesOf } from '../../support/rank-profiles.js';
import { root } from '../../support/root.js';
import { temporaryDirectory } from '../../support/temporary.js';
import type { SetView } from '../../../ts-frontend/src/render/format/options.js';
import { loadSet } from '../../../ts-frontend/src/sets/load.js';
import { merge } from '../../../ts-frontend/src/sets/merge.js';
import { readHead, type SetHead } from '../../../ts-frontend/src/sets/set-file.js';
import { tableNames, type Value } from '../../../ts-frontend/src/sets/tables.js';
import { setView } from '../../../ts-frontend/src/sets/views.js';

const engine = join(root, 'test/engines/node_modules/chdb');
type Row = Record<string, Value>;

needing(`file:${engine}`)('imbalance, mpi, outliers and sums of all tables', async (t) => {
  const folder = join(temporaryDirectory(), 'run.quartzset');
  const solve = [100, 101, 102, 100, 99, 101, 100, 180, 100, 99];
  await merge(sourcesOf(jobOf(solve)), folder, { quartz: 'test', parameters: {} });
  const { query } = createRequire(import.meta.url)(engine) as { query: (sql: string, format: string) => string };
  const table = (name: string): string => `file('${join(folder, `${name}.parquet`)}')`;
  const ask = (sql: string): Row[] =>
    query(sql, 'JSONEachRow')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  const rowsOf = async (view: SetView): Promise<readonly Row[]> =>
    setView(view, [await loadSet(folder, readHead(folder) as SetHead, view)], () => 1).rows;
  /** Rows of the view that the engine has to give, in the columns that it gives. */
  const equal = (ours: readonly Row[], theirs: readonly Row[], key: string): void => {
    t.true(ours.length > 0);
    t.deepEqual(theirs.map((row) => row[key]).sort(), ours.map((row) => row[key] ?? null).sort());
    for (const row of theirs)
      for (const [column, value] of Object.entries(row)) {
        const own = ours.find((one) => one[key] === row[key])?.[column];
        const close = Math.abs(Number(own) - Number(value)) <= 1e-9 * Math.abs(Number(own)) + 1e-6;
        t.true(own === value || close, `${column} of ${row[key]}: ${own} and ${value}`);
      }
  };

  equal(
    (await rowsOf('imbalance')).filter(({ kind }) => kind === 'procedure'),
    ask(`WITH (SELECT count() FROM ${table('ranks')}) AS n
      SELECT e.name AS name, sum(c.npt_ns) / n AS mean_ns, max(c.npt_ns) AS max_ns, max_ns - mean_ns AS imbalance_ns
      FROM ${table('costs')} AS c JOIN ${table('entities')} AS e USING (entity)
      WHERE e.kind = 'procedure' AND c.npt_ns > 0 GROUP BY e.entity, e.name`),
    'name',
  );
  const mpi = ask(`WITH (SELECT count() FROM ${table('ranks')}) AS n
      SELECT e.name AS name, sum(c.alone_ns) / n AS mean_ns, max(c.alone_ns) AS max_ns,
        if(countIf(c.alone_ns > 0) < n, 0, min(c.alone_ns)) AS min_ns
      FROM ${table('costs')} AS c JOIN ${table('entities')} AS e USING (entity)
      WHERE e.waits_for IN ('message', 'collective', 'processes') GROUP BY e.entity, e.name`);
  equal(await rowsOf('mpi'), mpi, 'name');
  t.is(mpi[0]?.['name'], allreduce.slice(allreduce.indexOf(':') + 1));
  equal(
    (await rowsOf('outliers')).filter(({ quantity }) => quantity === 'useful_ns'),
    ask(`WITH (SELECT groupArray(useful_ns) FROM ${table('ranks')}) AS v,
        arrayReduce('quantileExactInclusive(0.5)', v) AS median_ns,
        arrayReduce('quantileExactInclusive(0.5)', arrayMap(x -> abs(x - median_ns), v)) / 0.6745 AS s,
        (SELECT max(elapsed_ns) FROM ${table('ranks')}) AS longest
      SELECT rank, useful_ns AS value_ns, median_ns, (useful_ns - median_ns) / s AS score FROM ${table('ranks')}
      WHERE abs(score) > 3.5 AND abs(useful_ns - median_ns) >= 0.01 * longest`),
    'rank',
  );
  for (const name of tableNames) t.is(ask(`SELECT count() AS n FROM ${table(name)}`).length, 1, name);
  const [facts] = ask(`SELECT sum(npt_ns) AS ns FROM ${table('facts')}`);
  const [ranks] = ask(`SELECT sum(npt_ns) AS ns FROM ${table('ranks')}`);
  t.is(facts?.['ns'], ranks?.['ns']);
});
