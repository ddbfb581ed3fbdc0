/** What limits a job, as text and JSON (docs/reference/sets.md, "What limits a job"). Pure functions. */
import type { RenderOptions } from '../../render/format/options.js';
import { clean, paint, wrap } from '../../render/format/text.js';
import { count, figure, percent, time } from '../../render/format/units.js';
import { coresOf, coreTimeOf, type LoadedSet } from '../views.js';
import type { Limits } from './load.js';
import { jobSentences, overlapSentence } from './sentences.js';

const hourNs = 3.6e12;
const indent = 5;

export interface Totals {
  ranks: number;
  hosts: number;
  cores: number;
  elapsedNs: number;
  coreNs: number;
  usefulNs: number;
  spinningNs: number;
  mpiNs: number; // waiting in MPI, as core time
}

export function totalsOf(set: LoadedSet): Totals {
  const { ranks } = set;
  const sum = (of: (rank: LoadedSet['ranks'][number]) => number): number =>
    ranks.reduce((all, rank) => all + of(rank), 0);
  return {
    ranks: ranks.length,
    hosts: new Set(ranks.map(({ host }) => host)).size,
    cores: coresOf(set),
    elapsedNs: ranks.reduce((most, { elapsed_ns }) => Math.max(most, elapsed_ns), 0),
    coreNs: coreTimeOf(set),
    usefulNs: sum(({ useful_ns }) => useful_ns),
    spinningNs: sum(({ spinning_ns }) => spinning_ns),
    mpiNs: sum(({ mpi_ns, processors }) => mpi_ns * processors),
  };
}

const counted = (number: number, what: string): string => `${count(number)} ${what}${number === 1 ? '' : 's'}`;

/** "solver: 64 ranks on 4 hosts, 64 processors; ..." */
export function headText(set: LoadedSet, options: RenderOptions): string {
  const { ranks, hosts, cores, elapsedNs, coreNs, usefulNs, mpiNs } = totalsOf(set);
  const line =
    `${clean(set.head.programs.join(', '), options)}: ${counted(ranks, 'rank')} on ${counted(hosts, 'host')}, ` +
    `${counted(cores, 'processor')}; the longest rank took ${time(elapsedNs, options)}; ` +
    `${figure(coreNs / hourNs)} core-hours, of which useful ${percent(usefulNs, coreNs)}, waiting in MPI ` +
    percent(mpiNs, coreNs);
  return wrap(line, options.width, 0, options).join('\n');
}

/** The findings as a numbered list; `most`: so many of them. */
export function limitsText(limits: Limits, options: RenderOptions, most = Infinity): string {
  const lines = limits.findings.slice(0, most).flatMap((finding, k) => {
    const { text, remedy } = jobSentences(limits, finding, options);
    const number = `${k + 1}. `.padStart(indent);
    const first = wrap(text, options.width, indent, options);
    return [
      ...first.map((line, nth) => (nth === 0 ? number + line.trimStart() : line)),
      ...wrap(remedy, options.width, indent, options),
    ];
  });
  for (const overlap of limits.overlaps)
    if (overlap.numbers.every((number) => number <= most))
      lines.push(...wrap(overlapSentence(overlap, options), options.width, 2, options));
  const title = paint('What limits the job', 'heading', options);
  return `${title}\n\n${lines.length > 0 ? lines.join('\n') : '  Nothing stands out.'}\n`;
}

export function limitsJson(set: LoadedSet, limits: Limits, quartz: string): string {
  const findings = limits.findings.map((finding) => ({
    ...finding,
    ...jobSentences(limits, finding, { ascii: false }),
  }));
  const overlaps = limits.overlaps.map((one) => ({ ...one, text: overlapSentence(one, { ascii: false }) }));
  const { programs, parameters, leftOut, unfinished } = set.head;
  const head = { schema: 'quartz-job-1', quartz, name: set.name, programs, parameters };
  return `${JSON.stringify(
    { ...head, ...totalsOf(set), leftOut: leftOut.length, unfinished: unfinished.length, findings, overlaps },
    null,
    2,
  )}\n`;
}
