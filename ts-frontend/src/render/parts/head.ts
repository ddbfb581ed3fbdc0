/** The beginning of every report: findings, notices, a summary of the run, and how the processors' time was used. */
import { baseName, isDisturbed, isMostlyOthers, isNearlyOthers, tableNotices } from '../../model/index.js';
import type { FewerSnapshots, Model, Notice } from '../../model/index.js';
import { kernelUsageText } from '../wording/kernel-usage.js';
import { isRequestToEnd, signalName } from '../wording/signal-name.js';
import { effortText } from './effort.js';
import { workSpanText } from './work-span.js';
import { experimentTexts } from './experiment.js';
import { findingSentences } from '../findings/index.js';
import { noticeLine } from '../notices/index.js';
import type { RenderOptions } from '../format/options.js';
import { clean, paint, wrap } from '../format/text.js';
import { count, estimatedRange, figure, percent, range, rate, time, timeRange } from '../format/units.js';

/** The heading of a part of a report. */
export const heading = (text: string, options: RenderOptions): string[] =>
  wrap(text, options.width, 0, options).map((line) => paint(line, 'heading', options));

/** The number of CPUs used by the program's other processes above which the report mentions them. */
const leastRelated = 0.1;

/** The share of the time in which the program could run above which a limit of CPUs is mentioned first. */
const mostlyLimited = 0.25;

/** The share of the work above which the report warns that child processes do most of it, not the profiled process. */
const mostlyChildren = 0.5;

function childrenBefore({ notices }: Model, options: Pick<RenderOptions, 'ascii'>): string {
  const [children] = notices.filter((one) => one.form === 'child-processes');
  if (!children || children.childrenNs < mostlyChildren * (children.childrenNs + children.ownNs)) return '';
  const { childrenNs, ownNs, profiled } = children;
  return (
    `Child processes did ${percent(childrenNs, childrenNs + ownNs)} of the work (${time(childrenNs, options)} of ` +
    `processor time, this process ${time(ownNs, options)}), and are not in this profile: ` +
    (profiled
      ? 'they have profiles of their own, whose names contain the process number; quartz run --tree makes one report ' +
        'on all.'
      : 'quartz run --tree makes one report on all of them, --children a profile of each.')
  );
}

/** Warnings that a reader needs before the times in the findings; '' if there are none. */
export const beforeFindings = (model: Model, options: Pick<RenderOptions, 'ascii'>): string =>
  [crashBefore(model), childrenBefore(model, options), othersBefore(model, options)]
    .filter((text) => text !== '')
    .join(' ');

function crashBefore({ head: { endReason, exitStatus } }: Model): string {
  if (endReason !== 'signal' || isRequestToEnd(exitStatus)) return '';
  return `The program was killed by ${signalName(exitStatus)}: this report is about the time until then.`;
}

/**
 * What has the program's waiting for CPUs in it: a processor of the thread package counts as busy while its kernel
 * thread has no CPU; other threads' processor time is the kernel's.
 */
function includesWaiting(model: Model): string {
  return model.head.publisher === 'threadlib'
    ? 'times of the findings and of the tables include that waiting'
    : 'times of the findings include that waiting, those of the tables do not';
}

function othersBefore(model: Model, options: Pick<RenderOptions, 'ascii'>): string {
  const { cpuWait, elapsedNs, relatedCpus } = model;
  const couldRunNs = cpuWait.runNs + cpuWait.waitNs;
  if (cpuWait.limitNs > 0 && cpuWait.limitNs >= Math.max(cpuWait.othersNs, mostlyLimited * couldRunNs))
    return (
      `The limit of its control group kept this program from CPUs for ${percent(cpuWait.limitNs, couldRunNs)} of the ` +
      `time in which it could run: the ${includesWaiting(model)}.`
    );
  const who = relatedCpus >= leastRelated ? 'Other processes (some of this program)' : 'Other programs';
  if (!isMostlyOthers(cpuWait, elapsedNs))
    return isDisturbed(model) ? `${who} had CPUs while this program could run: the ${includesWaiting(model)}.` : '';
  return (
    `${who} had the CPUs for ${percent(cpuWait.othersNs, couldRunNs)} of the time in which this program ` +
    `could run. The ${includesWaiting(model)} ` +
    `(${time(elapsedNs, options)} elapsed for ${time(cpuWait.runNs, options)} of processor time): ` +
    (isNearlyOthers(cpuWait)
      ? 'so little was seen of how its threads run beside each other that the findings may be wrong, and their ' +
        'order, too. Record it again on a quieter machine.'
      : 'without the others the program would take less time, and the findings would cost less, in about the same ' +
        'proportions.')
  );
}

function findings(model: Model, options: RenderOptions): string[] {
  if (model.findings.length === 0) return [];
  const before = beforeFindings(model, options);
  const lines = [
    ...heading('What limits this program', options),
    '',
    ...(before === '' ? [] : [...wrap(before, options.width, 0, options), '']),
  ];
  model.findings.forEach((finding, index) => {
    const { text, remedy } = findingSentences(model, finding, options);
    const [first = '', ...rest] = wrap(clean(text, options), options.width, 5, options);
    lines.push(`  ${index + 1}. ${first.slice(5)}`, ...rest);
    lines.push(...wrap(clean(remedy, options), options.width, 5, options).map((line) => paint(line, 'warn', options)));
  });
  return [...lines, ''];
}

/** A notice, as lines that begin with a mark. */
export function noteLines(line: string, options: RenderOptions): string[] {
  const [first = '', ...rest] = wrap(clean(line, options), options.width, 2, options);
  return [paint('!', 'warn', options) + first.slice(1), ...rest];
}
const notice = (model: Model, one: Notice, options: RenderOptions): string[] =>
  noteLines(noticeLine(model, one, options), options);

const ends: Record<Model['head']['endReason'], (status: number) => string> = {
  none: () => '',
  exit: (status) => (status === 0 ? '' : `exit status ${status}`),
  signal: (status) => `killed by ${signalName(status)}`,
  interrupted: () => 'recording was interrupted',
  'disk-full': () => 'recording ended: the disk was full',
  exec: () => 'recording ended: the program replaced itself with another',
  error: () => 'recording ended by an error',
  time: () => '',
};

/** The command line of the program, without the program's directory. */
function commandLine({ program, head }: Model): string {
  const [first = '', ...rest] = head.arguments.split(' ');
  const name = baseName(program);
  if (head.arguments === '') return name;
  return first.endsWith(`/${name}`) ? [name, ...rest].join(' ') : head.arguments;
}

/** How the recording ended, where that is not the usual end; '' otherwise. */
function ending({ head }: Model): string {
  if (head.status === 'recording') return 'still recording';
  if (head.status === 'abandoned') return 'the sampler died: complete up to its last snapshot, without checksums';
  return ends[head.endReason](head.exitStatus);
}

/** The run in few words: program, how it ended, duration, number of snapshots. */
function runInBrief(model: Model, options: Pick<RenderOptions, 'ascii'>): string[] {
  const status = ending(model);
  if (model.samples === 0) return [`${commandLine(model)}: nothing was sampled`, ...(status === '' ? [] : [status])];
  return [
    `${commandLine(model)}: ${status === '' ? '' : `${status}, `}${time(model.elapsedNs, options)}`,
    `${count(model.processors)} ${model.processors === 1 ? 'processor' : 'processors'}`,
    `${count(model.samples)} samples at ${rate(model.rateHz)}`,
  ];
}

/** A summary of the run, with the cost of Quartz. */
export function facts(model: Model, options: Pick<RenderOptions, 'ascii'>): string {
  const run = runInBrief(model, options).join(', ');
  return model.samples === 0 ? run : `${run}${fewer(model, options)}, ${cost(model, options)}`;
}

/** Threads of the program come before the sampler, which may not have a higher real-time priority than theirs. */
const realtimeText = ({ realtime }: FewerSnapshots): string =>
  realtime === 0
    ? ''
    : ', because threads of the program have ' +
      (realtime < 100 ? `real-time priority ${realtime}` : 'class SCHED_DEADLINE') +
      ', and it may not have a higher one: record it as root';

/** Why fewer snapshots were taken than requested. Fewer snapshots widen the intervals, but do not bias the numbers. */
function fewer({ fewer: its }: Model, options: Pick<RenderOptions, 'ascii'>): string {
  if (its === null) return '';
  return its.reason === 'late'
    ? ` (of ${rate(its.askedHz)}: the sampler had to wait for a CPU${realtimeText(its)})`
    : ` (of ${rate(its.askedHz)}: each took ${time(its.eachNs, options)} of a CPU)`;
}

type Figure = Exclude<keyof Model['slowdown'], 'unmeasured' | 'waitsMayChange' | 'linesMayMove' | 'othersMayChange'>;
const slowdownParts: readonly (readonly [Figure, string, Figure?])[] = [
  ['hooksNs', 'hooks', 'hooksLeastNs'],
  ['locksNs', 'locks', 'locksLeastNs'],
  ['waitsNs', 'waits', 'waitsLeastNs'],
  ['regionsNs', 'parallel regions', 'regionsLeastNs'],
  ['tasksNs', 'tasks and threads', 'tasksLeastNs'],
  ['spawnsNs', 'thread creation'],
  ['samplesNs', 'samples of running threads'],
  ['timerNs', 'sample timer at context switches'],
  ['samplingNs', 'sampling', 'samplingLeastNs'],
  ['startNs', 'start of recording'],
];

/** From this share of a CPU on, the report says whether the program could have used the sampler's CPU. */
const leastOfCpu = 0.05;

/** From this slowdown on, as a share of the elapsed time, the report divides it by cause. */
const leastDivided = 0.05;

/** From this share of the elapsed time on, the report says how long the command took beside the program. */
const leastCommand = 0.01;

/** What the sampler used is a loss for the program only while no CPU was idle. */
function samplersCpu({ head, slowdown, elapsedNs }: Model): string {
  if (head.samplerSpins) return 'a free CPU';
  const isMostlyFree = slowdown.samplingNs < head.samplerCpuNs / 2;
  return isMostlyFree && head.samplerCpuNs >= leastOfCpu * elapsedNs ? 'a CPU, mostly while one was idle,' : 'a CPU';
}

/**
 * The cost of Quartz: its share of a CPU, and by how much sampling and hooks slowed the run: as shares, or as times
 * where the run alone takes less time than the start of its recording.
 */
function cost(model: Model, options: Pick<RenderOptions, 'ascii'>): string {
  const { head, compensation, slowdown, elapsedNs } = model;
  const own = `Quartz used ${percent(head.samplerCpuNs, elapsedNs)} of ${samplersCpu(model)}`;
  const wholeNs = elapsedNs + slowdown.startNs,
    wholes = [wholeNs - slowdown.elapsedLeastNs, wholeNs - slowdown.elapsedNs] as const;
  const isShort = slowdown.startNs > wholes[1];
  const bounds = (least: number, most: number): string =>
    isShort
      ? timeRange(least, most, options)
      : range({ part: least, whole: wholes[0] }, { part: most, whole: wholes[1] });
  const parts = slowdownParts
    .filter(([part]) => slowdown[part] >= 0.001 * elapsedNs)
    .sort(([a], [b]) => slowdown[b] - slowdown[a])
    .map(([part, name, least]) => {
      const most = slowdown[part];
      if (least || isShort) return `${name} ${bounds(least ? slowdown[least] : most, most)}`;
      return `${name} ${percent(most, wholes[1] || wholes[0])}`;
    });
  const { waitsMayChange, linesMayMove, othersMayChange } = slowdown;
  const [least, most] = [
    { part: slowdown.elapsedLeastNs, whole: wholes[0] },
    { part: slowdown.elapsedNs, whole: wholes[1] },
  ];
  const isMore = waitsMayChange || linesMayMove || othersMayChange;
  // The model of what recording changes has no upper bound that says anything.
  const isVague = isMore && !isShort && most.part > most.whole;
  const by = isShort
    ? `about ${bounds(least.part, most.part)}${isMore ? ' or more' : ''}`
    : estimatedRange(least, isVague ? { ...most, whole: 0 } : most, isMore);
  const changes = waitsMayChange
    ? '; threads wait for each other so often that recording changes who waits: quartz run --measure shows what ' +
      'that costs'
    : linesMayMove
      ? '; cache lines of locks move from CPU to CPU, and recording changes how often: quartz run --measure shows ' +
        'what that costs'
      : othersMayChange
        ? '; other programs had the CPUs, so that interruptions may cost it more: quartz run --measure shows how much'
        : '';
  const children = model.notices.some(({ form }) => form === 'child-processes')
    ? '; the cost to child processes is not known'
    : '';
  const hooked = head.publisher === 'threadlib' || head.paths.hooks;
  const taken = compensation.applied && hooked ? '; the cost of hooks is subtracted from the times below' : '';
  const isDivided = parts.length > 0 && !isVague && (isShort || most.part >= leastDivided * most.whole);
  const command =
    slowdown.commandNs >= leastCommand * elapsedNs
      ? `; the command took ${time(slowdown.commandNs, options)} besides, before the program began and after its end`
      : '';
  const why = isDivided ? ` (${parts.join(', ')})` : '';
  return `${own} and slowed the run by ${by}${why}${command}${changes}${children}${taken}`;
}

/** How the processors' time was used, in one sentence; '' if there was none. */
export function processorsText(model: Model, options: Pick<RenderOptions, 'ascii'>): string {
  const { balance } = model;
  const total = balance.usefulNs + balance.overheadNs + balance.spinningNs + balance.idleNs;
  if (total === 0) return '';
  const parts = [
    `useful ${percent(balance.usefulNs, total)}`,
    `overhead ${percent(balance.overheadNs, total)}`,
    `spinning ${percent(balance.spinningNs, total)}`,
    `idle ${percent(balance.idleNs, total)}`,
  ];
  const means = `on average ${figure(balance.meanBusy)} busy, ${figure(balance.meanRunnable)} threads runnable`;
  const nothing = balance.nothingRanNs > 0 ? `; nothing ran for ${time(balance.nothingRanNs, options)}` : '';
  return `Processors: ${parts.join(', ')}; ${means}${nothing}.`;
}

/** The texts that say something, a paragraph each. */
const paragraphs = (texts: readonly string[], options: RenderOptions): string[] =>
  texts.filter((text) => text !== '').flatMap((text) => wrap(text, options.width, 0, options));

/** The results of an experiment with several runs. */
function experiment({ experiment: its }: Model, options: RenderOptions): string[] {
  if (its === undefined) return [];
  const texts = experimentTexts(its, options).flatMap((text) => wrap(text, options.width, 2, options));
  return [...heading('Measured by experiment', options), '', ...texts, ''];
}

/** Whether a view follows what limits the program, or a line about the run: who asks for it has read the first. */
export type HeadSize = 'whole' | 'short';

/** Everything that precedes the view. */
export function head(model: Model, options: RenderOptions, size: HeadSize = 'whole'): string[] {
  const [lines, said] =
    size === 'whole' ? [wholeHead(model, options), model.notices] : [shortHead(model, options), tableNotices(model)];
  return [...lines, ...said.flatMap((one) => notice(model, one, options)), ''];
}

/** Without findings, whose search takes longer than all tables. */
function shortHead(model: Model, options: RenderOptions): string[] {
  const limits = model.samples > 0 ? ' (what limits it: quartz report)' : '';
  return paragraphs([clean(`${runInBrief(model, options).join(', ')}${limits}`, options)], options);
}

function wholeHead(model: Model, options: RenderOptions): string[] {
  return [
    ...findings(model, options),
    ...experiment(model, options),
    ...paragraphs(
      [
        clean(facts(model, options), options),
        processorsText(model, options),
        isMostlyOthers(model.cpuWait, model.elapsedNs) ? '' : effortText(model, options),
        kernelUsageText(model, options),
        workSpanText(model, options),
      ],
      options,
    ),
  ];
}
