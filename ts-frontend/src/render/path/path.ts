/** Renders the time path, which explains the elapsed time, as text, CSV and JSON. */
import { item, worksOf } from '../../model/index.js';
import type {
  Came,
  Entity,
  Model,
  PathEntity,
  PathLeg,
  PathState,
  Scaling,
  TimePath,
  WorkSpan,
} from '../../model/index.js';
import { chainColumns, shownOnChain } from './chain-entities.js';
import { heading, noteLines } from '../parts/head.js';
import { entityName, label, shortLabel, threadNumbers } from '../wording/names.js';
import type { RenderOptions } from '../format/options.js';
import { limited, table, type Column } from '../parts/table.js';
import { whatIfJson } from './what-if.js';
import { paint, wrap } from '../format/text.js';
import { count, percent, time } from '../format/units.js';

export const pathSchema = 'quartz-path-1';

export const stateText: Record<PathState, string> = {
  useful: 'at work',
  overhead: 'in the thread package',
  spinning: 'busy waiting',
  ready: 'waiting for a processor',
  blocked: 'waiting, woken by a time-out or an unknown thread',
  io: 'in input, output or sleep',
  unknown: 'not known',
};

/** The event by which the path reached the leg's thread. */
export function cameText(
  model: Model,
  { came, by, inferred }: Pick<PathLeg, 'came' | 'by' | 'inferred'>,
  options: Pick<RenderOptions, 'ascii'>,
): string {
  const object = by === 0 ? '' : label(item(model.entities, by), options);
  const texts: Record<Came, string> = {
    same: inferred ? 'ran at that time' : '',
    created: 'created',
    woken: object === '' ? 'woken' : `by ${object}`,
    joined: 'joined',
    own: object === '' ? '' : `after ${object}`,
    io: 'after i/o',
  };
  return texts[came];
}

/** Legs in order of time; consecutive short ones share a row. */
interface LegRow {
  leg: PathLeg;
  short: number; // > 0: the number of short legs that the row stands for
}
const shortPart = 1 / 200; // a leg shorter than this share of the path is short

export function legRows(path: TimePath, all: boolean): LegRow[] {
  const rows: LegRow[] = [];
  for (const leg of path.legs) {
    const last = rows.at(-1);
    if (all || leg.ns >= path.lengthNs * shortPart) {
      rows.push({ leg, short: 0 });
    } else if (last !== undefined && last.short > 0) {
      const states = { ...last.leg.states };
      for (const name of Object.keys(states) as PathState[]) states[name] += leg.states[name];
      last.leg = { ...last.leg, ns: last.leg.ns + leg.ns, segments: last.leg.segments + leg.segments, states };
      last.short++;
    } else {
      rows.push({ leg, short: 1 });
    }
  }
  return rows;
}

/** The share of the path from which on waits for processors make its course uncertain. */
const muchReady = 0.2;

function summary(model: Model, path: TimePath, options: RenderOptions): string[] {
  const from = path.fromBeginning ? "from the program's beginning" : 'from when it was attached';
  const to = path.toExit ? 'to its end' : 'to what ran when recording ended';
  const text = [
    ...wrap(
      `The time path: ${time(path.lengthNs, options)} ${from} ${to}, each wait followed back ` +
        'to the thread that ended it',
      options.width,
      0,
      options,
    ).map((line) => paint(line, 'heading', options)),
    '',
  ];
  const states = (Object.keys(stateText) as PathState[]).filter((name) => path.states[name] > 0);
  states.sort((a, b) => path.states[b] - path.states[a]);
  const columns: Column<PathState>[] = [
    { head: 'on the path', text: (name) => time(path.states[name], options), tone: 'strong' },
    { head: 'share', text: (name) => percent(path.states[name], path.lengthNs) },
    { head: 'its thread was', text: (name) => stateText[name], align: 'left', name: true },
  ];
  text.push(...table(states, columns, options), '');
  const note = (line: string): void => void text.push(...noteLines(line, options));
  if (path.inferredNs > 0)
    note(
      `${percent(path.inferredNs, path.lengthNs)} of the path is inferred: its thread waited for something that ` +
        'neither the thread package nor the pthread layer sees, and what ran at that time is taken as the cause',
    );
  if (model.raw.head.publisher === 'pthread' && path.states.ready > muchReady * path.lengthNs)
    note(
      `for ${percent(path.states.ready, path.lengthNs)} of the path its thread could have run, but had no processor; ` +
        'the first yields of a place that waits for another thread look the same, so the path may be another one: ' +
        'record on a quieter machine, or with fewer threads',
    );
  const unknownNs = Math.max(path.cutNs, path.states.unknown);
  if (path.lostCrumbs > 0)
    note(
      `${count(path.lostCrumbs)} records of wake-ups were lost: ${percent(unknownNs, path.lengthNs)} of the path ` +
        'is not known, and other parts may be those of other threads',
    );
  else if (path.cutNs > 0)
    note(`for ${percent(path.cutNs, path.lengthNs)} of the path the records of wake-ups are no longer known`);
  const joined = path.segments.filter((segment) => segment.joined > 1);
  if (joined.length > 0)
    note(
      `the path has more segments than a profile keeps: ${count(joined.length)} of ${count(path.segments.length)} ` +
        `stand for ${count(joined.reduce((sum, segment) => sum + segment.joined, 0))}, and show what took most time`,
    );
  if (text.at(-1) !== '') text.push('');
  return text;
}

/** Procedures and objects on the path. */
export const pathRows = (model: Model, path: TimePath): PathRow[] => shownOnChain(model, path.entities);

export type PathRow = PathEntity & { of: Entity };
/** The columns for entities on the path, for text and HTML. */
export const pathColumns = (model: Model, path: TimePath, options: RenderOptions): Column<PathRow>[] =>
  chainColumns(
    model,
    {
      head: 'on path',
      wholeNs: path.lengthNs,
      ns: ({ onPathNs }) => onPathNs,
      selfNs: ({ onPathSelfNs }) => onPathSelfNs,
      beside: {
        head: 'proc.time',
        text: ({ of }) => (of.processorTimeNs > 0 ? time(of.processorTimeNs, options) : ''),
      },
    },
    options,
  );

function entityTable(model: Model, path: TimePath, options: RenderOptions): string[] {
  const { rows, more } = limited(pathRows(model, path), options);
  return [
    ...heading('What is on it', options),
    '',
    ...table(rows, pathColumns(model, path, options), options),
    ...more,
    '',
  ];
}

/** Numbers that distinguish threads of the same name on the path. */
export const threadNumbersOf = (model: Model, { segments }: TimePath): ((id: number) => string) =>
  threadNumbers(
    model,
    segments.map(({ thread }) => thread),
  );

/** The columns for legs, for text and HTML. */
export function legColumns(model: Model, path: TimePath, options: RenderOptions): Column<LegRow>[] {
  const numberOf = threadNumbersOf(model, path);
  return [
    { head: 'from', text: ({ leg }) => time(leg.startNs, options) },
    { head: 'time', text: ({ leg }) => time(leg.ns, options), tone: 'strong' },
    { head: 'share', text: ({ leg }) => percent(leg.ns, path.lengthNs), drop: 4 },
    {
      head: 'not at work',
      text: ({ leg }) => {
        const off = leg.ns - leg.states.useful - leg.states.overhead;
        return off >= leg.ns / 100 ? percent(off, leg.ns) : '';
      },
      drop: 3,
    },
    {
      head: 'thread',
      text: ({ leg, short }) =>
        short > 0
          ? `(${count(short)} short ${short === 1 ? 'one' : 'ones'})`
          : leg.thread === 0
            ? '(not known)'
            : entityName(model, leg.thread, options) + numberOf(leg.thread),
      align: 'left',
    },
    {
      head: 'came',
      text: ({ leg, short }) => (short > 0 ? '' : cameText(model, leg, options)),
      align: 'left',
      drop: 2,
    },
    {
      head: 'mostly in',
      text: ({ leg, short }) =>
        short > 0 || leg.procedure === 0 ? '' : label(item(model.entities, leg.procedure), options),
      short: ({ leg }, columns) => shortLabel(model, item(model.entities, leg.procedure), columns, options),
      align: 'left',
      name: true,
    },
  ];
}

function legTable(model: Model, path: TimePath, options: RenderOptions): string[] {
  const { rows, more } = limited(legRows(path, options.top === 0), options);
  return [...heading('In time order', options), '', ...table(rows, legColumns(model, path, options), options), ...more];
}

/** Advice for a profile without a path. */
export const noPathText = ({ head }: Model): string =>
  head.outside
    ? 'no time path was recorded: the program was watched from outside, where nothing shows which thread ended the ' +
      `wait of another; ${head.attached ? 'start it with: quartz record -- PROGRAM' : 'link it dynamically'}`
    : 'no time path was recorded: the program was built with an older Quartz, could not map memory, or ended before ' +
      'the first snapshot; record it again with: quartz record -- PROGRAM';

export function pathReport(model: Model, path: TimePath, options: RenderOptions): string {
  return `${[
    ...summary(model, path, options),
    ...entityTable(model, path, options),
    ...legTable(model, path, options),
  ].join('\n')}\n`;
}

export const nameOf = (model: Model, id: number): string => (id === 0 ? '' : item(model.entities, id).name);

/** Adds names of entities; sites are indices into `sites`. */
const scalingJson = (model: Model, fact: Scaling): object => {
  if (fact.form === 'lock-limits') return { ...fact, name: nameOf(model, fact.entity) };
  if (fact.form === 'span-limits' && fact.code !== null)
    return {
      ...fact,
      code: {
        ...fact.code,
        name: nameOf(model, fact.code.entity),
        callers: fact.code.callers.map((caller) => ({ ...caller, name: nameOf(model, caller.entity) })),
      },
    };
  return fact;
};

/** The JSON of docs/reference/path.md. What only a recording with work and span contains is null or empty. */
export function pathJson(model: Model, path: TimePath, span: WorkSpan | null, quartzVersion: string): string {
  const onSpanOf = new Map(span?.entities.map(({ entity, onSpanNs }) => [entity, onSpanNs]));
  const workOf = worksOf(model);
  const onPathOf = new Map(path.entities.map(({ entity, onPathNs }) => [entity, onPathNs]));
  return `${JSON.stringify(
    {
      schema: pathSchema,
      quartz: quartzVersion,
      program: model.program,
      elapsedNs: model.elapsedNs,
      processors: model.processors,
      lengthNs: path.lengthNs,
      fromBeginning: path.fromBeginning,
      toExit: path.toExit,
      states: path.states,
      inferredShare: path.inferredNs / path.lengthNs,
      lostCrumbs: path.lostCrumbs,
      cutNs: path.cutNs,
      workNs: span?.workNs ?? null,
      spanNs: span?.spanNs ?? null,
      burdenedSpanNs: span?.burdenedSpanNs ?? null,
      typicalSpanNs: span?.typicalSpanNs ?? null,
      parallelism: span?.parallelism ?? null,
      cpuWaitsOut: span?.cpuWaitsOut ?? null,
      cpuWaitNs: span?.cpuWaitNs ?? null,
      asideNs: span?.asideNs ?? null,
      unendedNs: span?.unendedNs ?? null,
      unseenOrder: span?.unseenOrder ?? null,
      prediction: span?.prediction ?? [],
      scaling: (span?.scaling ?? []).map((fact) => scalingJson(model, fact)),
      whatIf: (span?.whatIf ?? []).map(whatIfJson),
      slack: (span?.slack ?? []).map((row) => ({ ...row, caller: nameOf(model, row.caller) })),
      sites: (span?.sites ?? []).map((site) => ({
        ...site,
        caller: nameOf(model, site.caller),
        start: nameOf(model, site.start),
        onPathNs: site.onSpanNs === null ? null : (onPathOf.get(site.start) ?? 0),
      })),
      locks: (span?.locks ?? []).map(({ entity, holdNs }) => ({
        id: entity,
        name: item(model.entities, entity).name,
        holdNs,
      })),
      entities: path.entities.map((row) => ({
        id: row.entity,
        kind: item(model.entities, row.entity).kind,
        name: item(model.entities, row.entity).name,
        onPathNs: row.onPathNs,
        onPathSelfNs: row.onPathSelfNs,
        ci95: row.ci95,
        onSpanNs: span === null ? null : (onSpanOf.get(row.entity) ?? 0),
        workNs: span === null ? item(model.entities, row.entity).processorTimeNs : workOf(row.entity),
      })),
      segments: path.segments,
    },
    null,
    1,
  )}\n`;
}
