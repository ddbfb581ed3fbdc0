/** The page that says how often the first finding was right. */
import { loadavg } from 'node:os';
import { median } from './measure.js';
import type { Outcome } from './outcome.js';

const percent = (part: number): string => `${(100 * part).toFixed(0)} %`;
const verdictOf = ({ verdicts }: Outcome): string => {
  const count = new Map<string, number>();
  for (const one of verdicts) count.set(one, (count.get(one) ?? 0) + 1);
  return [...count]
    .sort((a, b) => b[1] - a[1])
    .map(([word, times]) => (count.size === 1 ? word : `${word} ${times}`))
    .join(', ');
};
const medianOf = (values: readonly number[]): number => median(values);

function row(outcome: Outcome): string {
  const { program, gain, before, after, recorded, first, promised } = outcome;
  const alone = medianOf(before.map(({ elapsed }) => elapsed)),
    changed = medianOf(after.map(({ elapsed }) => elapsed));
  const slower = medianOf(recorded.map(({ elapsed }) => elapsed)) / alone - 1;
  const least = medianOf(recorded.map(({ model }) => model.slowdown.shareLeast)),
    most = medianOf(recorded.map(({ model }) => model.slowdown.share));
  const kernel = recorded
    .map(({ model: { kernelUsage, root, balance } }) =>
      kernelUsage ? (root.processorTimeNs + balance.spinningNs) / (kernelUsage.userNs + kernelUsage.systemNs) - 1 : NaN,
    )
    .filter((part) => !Number.isNaN(part));
  return `| ${[
    program.name,
    program.language,
    `${program.registered.kinds.join(', ')}: ${program.registered.cause}`,
    first.replaceAll('|', '/'),
    verdictOf(outcome),
    program.registered.fix,
    promised === undefined ? '-' : percent(promised),
    percent(1 - gain.after / gain.before),
    percent(1 - changed / alone),
    `${percent(least)} to ${percent(most)}`,
    percent(slower),
    kernel.length > 0 ? `${(100 * medianOf(kernel)).toFixed(1)} %` : '-',
  ].join(' | ')} |`;
}

export function tableOf(outcomes: readonly Outcome[]): string {
  const all = outcomes.flatMap(({ verdicts }) => verdicts);
  const of = (word: string): string => `${word} ${all.filter((one) => one === word).length}`;
  return [
    '# Truth: real programs with registered causes',
    '',
    'Written by `npm run truth` (`bench/truth`), as it came out. Each cause, and what its change saved, was registered',
    'before Quartz ran on the program for the first time; what has been corrected since was corrected for its class.',
    'A report is *right* where its first finding has a registered kind and names the subject, *half* where another one',
    'does, or it has the kind alone, else *wrong*; *silent* where it has no finding. Times are medians. *promised* is',
    'the saving of the finding that names the cause (of serial code its cost), *gain* what the change saved: when it',
    'was registered, and beside these runs. *reported* is the slowdown by the report, *real* the recorded runs against',
    "those without (elapsed). *CPU* is the processor time of the report against the kernel's count.",
    '',
    `Machine: ${outcomes[0]?.recorded[0]?.model.head.host ?? 'none'}; load at the end ${loadavg()[0]!.toFixed(0)}.`,
    '',
    `Of ${all.length} runs of ${outcomes.length} programs: ${['right', 'half', 'wrong', 'silent'].map(of).join(', ')}.`,
    '',
    '| program | language | registered | first finding | verdict | change | promised | gain, registered | gain, now ' +
      '| reported | real | CPU |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...outcomes.map(row),
    '',
  ].join('\n');
}
