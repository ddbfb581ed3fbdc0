/** What every report begins with: what limits the program, what is to be known about the run, where the time went. */
import type { Model, Notice } from '../model/index.js';
import { findingSentences } from './findings/index.js';
import type { RenderOptions } from './format/options.js';
import { clean, paint, wrap } from './format/text.js';
import { count, figure, percent, range, rate, time } from './format/units.js';

/** The title of a part of a report. */
export const heading = (text: string, options: RenderOptions): string[] =>
  wrap(text, options.width, 0, options).map((line) => paint(line, 'heading', options));

function findings(model: Model, options: RenderOptions): string[] {
  if (model.findings.length === 0) return [];
  const lines = [...heading('What limits this program', options), ''];
  model.findings.forEach((finding, index) => {
    const { text, remedy } = findingSentences(model, finding, options);
    const [first = '', ...rest] = wrap(clean(text, options), options.width, 5, options);
    lines.push(`  ${index + 1}. ${first.slice(5)}`, ...rest);
    lines.push(...wrap(clean(remedy, options), options.width, 5, options).map((line) => paint(line, 'warn', options)));
  });
  return [...lines, ''];
}

function notice({ reason, remedy }: Notice, options: RenderOptions): string[] {
  const text = clean(remedy === '' ? reason : `${reason}; ${remedy}`, options);
  const [first = '', ...rest] = wrap(text, options.width, 2, options);
  return [paint('!', 'warn', options) + first.slice(1), ...rest];
}

/** What the program was built without: hooks, names, lines. Each where a tenth of the work is concerned. */
function unseen(model: Model): Notice[] {
  const list: Notice[] = [];
  const work = model.balance.usefulNs + model.balance.overheadNs;
  const procedures = model.entities.filter(
    (entity) => entity.kind === 'procedure' && entity.id !== 0 && entity.group === 0,
  );
  const starts = new Set(model.entities.filter((entity) => entity.kind === 'thread').map((entity) => entity.address));
  const { paths } = model.head;
  if (model.head.publisher === 'pthread') {
    if (paths.noSamples && !paths.hooks) {
      list.push({
        reason:
          'procedures are seen only where threads wait: the kernel gives no samples of running threads (perf_event_open is forbidden here)',
        remedy:
          'allow it (sysctl kernel.perf_event_paranoid=2; in a container --cap-add PERFMON), or compile with the flags that quartz cflags prints',
      });
    }
    if (paths.fewSamples)
      list.push({
        reason: 'the kernel gave no samples of some threads: their procedures are seen only where they wait',
        remedy: 'raise ulimit -l or sysctl kernel.perf_event_mlock_kb',
      });
    if (paths.noMemory)
      list.push({
        reason: "procedures are not seen where threads wait: the program's memory may not be read",
        remedy: 'record as the user who runs it; in a container --cap-add SYS_PTRACE',
      });
    if (paths.noCalls)
      list.push({
        reason:
          'what sleeping threads wait for is not known where the pthread layer does not see it: the kernel does not tell (/proc/PID/task/TID/syscall)',
        remedy: 'record as the user who runs the program, or as root',
      });
  }
  if (paths.noSamples && (model.head.publisher === 'threadlib' || paths.hooks)) {
    list.push({
      reason:
        "hooks see no loops: what waits in a loop of the program's own counts as work, for the kernel gives no samples of running threads (perf_event_open is forbidden here)",
      remedy:
        'allow it (sysctl kernel.perf_event_paranoid=2; in a container --cap-add PERFMON), or mark such loops with QZ_SPIN_BEGIN',
    });
  }
  if (work > 0 && model.head.publisher === 'threadlib' && procedures.every((entity) => starts.has(entity.address))) {
    list.push({
      reason: 'no procedure but the start routines of threads was seen: the program has no hooks',
      remedy: 'to see all, compile it with the flags that quartz cflags prints',
    });
  }
  const without = new Map<string, number>();
  for (const { detail, processorTimeSelfNs } of procedures) {
    if (detail !== '' && !detail.startsWith('in a library of the system'))
      without.set(detail, (without.get(detail) ?? 0) + processorTimeSelfNs);
  }
  for (const [detail, ns] of without) {
    if (ns > work / 10) {
      list.push({
        reason: `${percent(ns, work)} of the work is in procedures without ${/^no (line|debug) information/.test(detail) ? 'file and line' : 'names'}: ${detail}`,
        remedy: detail.startsWith('stripped') ? 'link without -s, and strip no copy that is to be profiled' : '',
      });
    }
  }
  return list;
}

/** Losses and damage, each only where there is some, with what to do. */
export function losses(model: Model): Notice[] {
  const { head } = model;
  const list: Notice[] = [];
  const add = (value: number, reason: string, remedy: string): void => {
    if (value > 0) list.push({ reason: `${count(value)} ${reason}`, remedy });
  };
  // Fewer are of no weight: an innermost entry in a hundred copies, against intervals wider than that.
  if (head.tornAccepted >= head.visits / 100)
    add(
      head.tornAccepted,
      `of ${count(head.visits)} copies were torn, and accepted`,
      'their paths may lack or repeat the innermost entry; the rest of them is right',
    );
  add(
    head.invalid,
    'records made no sense and were left out',
    'if this repeats, check that program and Quartz are of one version',
  );
  add(
    head.stackOverflows,
    `calls were deeper than the ${count(head.stackLimit)} entries of a profile stack`,
    'their time is charged to the deepest entry kept',
  );
  add(head.callsLost, 'calls were not counted, the table of calls was full', 'call counts are lower bounds');
  add(
    head.threadsDropped,
    'threads were not recorded, the table of threads was full',
    'their time while they did not run is missing',
  );
  add(
    head.objectsMerged,
    'synchronization objects share a record with others of their place',
    'their statistics are added up',
  );
  add(head.stringsDropped, 'names did not fit', 'such objects are shown by the place that created them');
  add(
    head.tuplesMerged,
    'observations were kept with a coarser number of runnable threads',
    'times are right, distributions of runnable threads less fine',
  );
  add(head.stacksCut, 'stacks were cut short, the profile was full', 'their time is charged to the deepest entry kept');
  add(head.entitiesMerged, 'threads are shown under their group', 'their times are added up');
  if (model.slowdown.unmeasured.length > 0) {
    list.push({
      reason: `what ${model.slowdown.unmeasured.join(', ').replace(/, ([^,]*)$/, ' and $1')} cost could not be measured when the program began: the slowdown told leaves it out, and the times of short procedures contain it`,
      remedy: 'record again',
    });
  }
  list.push(...unseen(model));
  const due = head.snapshots + head.skippedTicks;
  if (head.skippedTicks > due / 20) {
    list.push({
      reason: `${percent(head.skippedTicks, due)} of the snapshots due were skipped, the sampler was late`,
      remedy: 'ask for a lower --rate, or keep a CPU free for the sampler with --cpu',
    });
  }
  return list;
}

const ends: Record<Model['head']['endReason'], (status: number) => string> = {
  none: () => '',
  exit: (status) => (status === 0 ? '' : `exit status ${status}`),
  signal: (status) => `killed by signal ${status}`,
  interrupted: () => 'recording was interrupted',
  'disk-full': () => 'recording ended: the disk was full',
  exec: () => 'recording ended: the program replaced itself by another',
  error: () => 'recording ended by an error',
};

/** The command line with the program's directory left out. */
function commandLine({ program, head }: Model): string {
  const [first = '', ...rest] = head.arguments.split(' ');
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (head.arguments === '') return name;
  return first.endsWith(`/${name}`) ? [name, ...rest].join(' ') : head.arguments;
}

/** The run in one line: what ran, how long, how well it was seen, what Quartz itself cost. */
export function facts(model: Model, options: Pick<RenderOptions, 'ascii'>): string {
  const { head } = model;
  const status =
    head.status === 'recording'
      ? 'still recording'
      : head.status === 'abandoned'
        ? 'the sampler died; good up to its last snapshot; not finished, so without checksums'
        : ends[head.endReason](head.exitStatus);
  return [
    `${commandLine(model)}: ${time(model.elapsedNs, options)}`,
    `${count(model.processors)} ${model.processors === 1 ? 'processor' : 'processors'}`,
    `${count(model.samples)} samples at ${rate(model.rateHz)}${fewer(model, options)}`,
    cost(model),
    ...(status === '' ? [] : [status]),
  ].join(', ');
}

/** Why there were not as many as promised; numbers are as right as with all of them, their intervals wider. */
function fewer({ fewer: its }: Model, options: Pick<RenderOptions, 'ascii'>): string {
  if (its === null) return '';
  return its.reason === 'late'
    ? ` (not ${rate(its.askedHz)}: the sampler had to wait for a CPU)`
    : ` (not ${rate(its.askedHz)}: each took ${time(its.eachNs, options)} of a CPU here, and more would slow the program)`;
}

type Figure = Exclude<keyof Model['slowdown'], 'unmeasured'>;
const slowers: readonly (readonly [Figure, string, Figure?])[] = [
  ['hooksNs', 'hooks', 'hooksLeastNs'],
  ['locksNs', 'locks', 'locksLeastNs'],
  ['waitsNs', 'waits'],
  ['spawnsNs', 'threads made'],
  ['samplesNs', 'samples of running threads'],
  ['turnsNs', 'their timer at switches'],
  ['samplingNs', 'sampling'],
];

/** What Quartz itself cost: a share of a CPU, and by how much that and its hooks slowed the run. */
function cost(model: Model): string {
  const { head, compensation, slowdown, elapsedNs } = model;
  if (elapsedNs === 0) return 'Quartz took no time';
  const own = `Quartz used ${percent(head.samplerCpuNs, elapsedNs)} of a CPU to sample`;
  const wholes = [elapsedNs - slowdown.elapsedLeastNs, elapsedNs - slowdown.elapsedNs] as const;
  const bounds = (least: number, most: number): string =>
    range({ part: least, whole: wholes[0] }, { part: most, whole: wholes[1] });
  const parts = slowers
    .filter(([part]) => slowdown[part] >= 0.001 * elapsedNs)
    .sort(([a], [b]) => slowdown[b] - slowdown[a])
    .map(
      ([part, name, least]) =>
        `${name} ${least ? bounds(slowdown[least], slowdown[part]) : percent(slowdown[part], wholes[1] || wholes[0])}`,
    );
  const slower = bounds(slowdown.elapsedLeastNs, slowdown.elapsedNs);
  const slowed = `slowed the run by ${slower.startsWith('<') ? `less than ${slower.slice(1)}` : `about ${slower}`}`;
  const hooked = head.publisher === 'threadlib' || head.paths.hooks;
  const taken = compensation.applied && hooked ? '; the cost of hooks is taken out of what follows' : '';
  return `${own} and ${slowed}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}${taken}`;
}

function bars(model: Model, options: RenderOptions): string[] {
  const { balance } = model;
  const total = balance.usefulNs + balance.overheadNs + balance.spinningNs + balance.idleNs;
  if (total === 0) return [];
  const parts = [
    `useful ${percent(balance.usefulNs, total)}`,
    `overhead ${percent(balance.overheadNs, total)}`,
    `spinning ${percent(balance.spinningNs, total)}`,
    `idle ${percent(balance.idleNs, total)}`,
  ];
  const means = `on average ${figure(balance.meanBusy)} busy, ${figure(balance.meanRunnable)} threads runnable`;
  const nothing = balance.nothingRanNs > 0 ? `; nothing ran for ${time(balance.nothingRanNs, options)}` : '';
  return wrap(`Processors: ${parts.join(', ')}; ${means}${nothing}.`, options.width, 0, options);
}

/** All that stands before the view. */
export function head(model: Model, options: RenderOptions): string[] {
  return [
    ...findings(model, options),
    ...wrap(clean(facts(model, options), options), options.width, 0, options),
    ...bars(model, options),
    ...[...model.notices, ...losses(model)].flatMap((one) => notice(one, options)),
    '',
  ];
}
