/** The tables of `quartz path` as comma-separated values: units in the column names, times as integers in ns. */
import { item } from '../../model/index.js';
import type { Model, PathEntity, SpanEntity, TimePath, WorkSpan } from '../../model/index.js';
import { csvLines } from '../parts/csv-lines.js';
import { nameOf, threadNumbersOf } from './path.js';

export const pathTables = ['segments', 'entities'] as const;
export const spanTables = ['processors', 'entities', 'sites', 'locks', 'what-if', 'slack'] as const;
type PathTable = (typeof pathTables)[number];
type SpanTable = (typeof spanTables)[number];

type Row = Record<string, string | number>;
const table = (columns: readonly string[], rows: readonly Row[]): string => csvLines(rows, columns);
const ns = (value: number | null): string | number => (value === null ? '' : Math.round(value));

/** Segments in order of time, or sums by entity. */
export const pathCsv = (model: Model, path: TimePath, name: PathTable): string =>
  name === 'segments' ? segments(model, path) : pathEntities(model, path);

function segments(model: Model, path: TimePath): string {
  const name = (id: number): string => nameOf(model, id);
  const numberOf = threadNumbersOf(model, path);
  return table(
    ['start_ns', 'ns', 'thread', 'state', 'came', 'by', 'waited_for', 'inferred', 'joined', 'path'],
    path.segments.map((segment) => ({
      start_ns: segment.startNs,
      ns: segment.ns,
      thread: name(segment.thread) + numberOf(segment.thread),
      state: segment.state,
      came: segment.came,
      by: name(segment.by),
      waited_for: name(segment.waitedFor),
      inferred: segment.inferred ? 1 : 0,
      joined: segment.joined,
      path: segment.path.map(name).join(' > '),
    })),
  );
}

/** The fields that identify an entity. */
function about(model: Model, { entity, ci95 }: PathEntity | SpanEntity): Row {
  const { kind, name, file, line } = item(model.entities, entity);
  return { kind, name, file, line, low_ns: ns(ci95.lowNs), high_ns: ns(ci95.highNs) };
}
const aboutColumns = ['kind', 'name', 'file', 'line'];

const pathEntities = (model: Model, path: TimePath): string =>
  table(
    [...aboutColumns, 'on_path_ns', 'low_ns', 'high_ns', 'on_path_self_ns', 'work_ns'],
    path.entities.map((row) => ({
      ...about(model, row),
      on_path_ns: ns(row.onPathNs),
      on_path_self_ns: ns(row.onPathSelfNs),
      work_ns: ns(item(model.entities, row.entity).processorTimeNs),
    })),
  );

export function workSpanCsv(model: Model, span: WorkSpan, name: SpanTable): string {
  const called = (id: number): string => nameOf(model, id);
  switch (name) {
    case 'processors':
      return table(
        ['processors', 'ns', 'low_ns', 'high_ns'],
        span.prediction.map((row) => ({
          processors: row.processors,
          ns: ns(row.ns),
          low_ns: ns(row.lowNs),
          high_ns: ns(row.highNs),
        })),
      );
    case 'entities':
      return table(
        [...aboutColumns, 'on_span_ns', 'low_ns', 'high_ns', 'on_span_self_ns', 'work_ns'],
        span.entities.map((row) => ({
          ...about(model, row),
          on_span_ns: ns(row.onSpanNs),
          on_span_self_ns: ns(row.onSpanSelfNs),
          work_ns: ns(row.workNs),
        })),
      );
    case 'sites':
      return sites(model, span);
    case 'locks':
      return table(
        ['name', 'hold_ns'],
        span.locks.map(({ entity, holdNs }) => ({ name: called(entity), hold_ns: ns(holdNs) })),
      );
    case 'what-if':
      return whatIfs(span);
    case 'slack':
      return table(
        ['caller', 'line', 'merges', 'threads', 'lost', 'slack_ns', 'mean_slack_ns', 'least_slack_ns'],
        span.slack.map((row) => ({
          caller: called(row.caller),
          line: row.line,
          merges: row.merges,
          threads: row.threads,
          lost: row.lost,
          slack_ns: ns(row.slackNs),
          mean_slack_ns: ns(row.meanSlackNs),
          least_slack_ns: ns(row.leastSlackNs),
        })),
      );
  }
}

const sites = (model: Model, span: WorkSpan): string =>
  table(
    [
      ...['start', 'caller', 'line', 'count', 'work_ns', 'span_ns', 'top_count', 'top_work_ns', 'top_span_ns'],
      ...['on_span_ns', 'on_span_self_ns'],
    ],
    span.sites.map((row) => ({
      start: nameOf(model, row.start),
      caller: nameOf(model, row.caller),
      line: row.line,
      count: row.count,
      work_ns: ns(row.workNs),
      span_ns: ns(row.spanNs),
      top_count: row.topCount,
      top_work_ns: ns(row.topWorkNs),
      top_span_ns: ns(row.topSpanNs),
      on_span_ns: ns(row.onSpanNs),
      on_span_self_ns: ns(row.onSpanSelfNs),
    })),
  );

/** One line per question and number of processors; if a question has no answer, one line without numbers. */
const whatIfs = (span: WorkSpan): string =>
  table(
    [
      ...['name', 'kind', 'factor', 'basis', 'span_ns', 'span_low_ns', 'span_high_ns', 'work_ns'],
      ...['processors', 'ns', 'low_ns', 'high_ns'],
    ],
    span.whatIf.flatMap((answer) =>
      (answer.prediction.length > 0 ? answer.prediction : [null]).map((on) => ({
        name: answer.name,
        kind: answer.kind,
        factor: answer.factor,
        basis: answer.basis,
        span_ns: ns(answer.spanNs),
        span_low_ns: ns(answer.lowNs),
        span_high_ns: ns(answer.highNs),
        work_ns: ns(answer.workNs),
        processors: on === null ? '' : on.processors,
        ns: ns(on === null ? null : on.ns),
        low_ns: ns(on === null ? null : on.lowNs),
        high_ns: ns(on === null ? null : on.highNs),
      })),
    ),
  );
