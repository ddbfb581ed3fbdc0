/** What many generated programs say together. Pure. */
import { median } from '../measure.js';
import type { Generated } from './draw.js';
import type { First, Judged } from './judge.js';

export interface Case {
  program: Generated;
  sure: boolean; // the rounds agree on what its changes gain
  judged: Judged[]; // of each recording
  slower: number; // recorded, over alone
  slowerCpu: number; // by processor time
  reported: number; // the most that a report says
  orMore: boolean;
  close: boolean; // a report says that its first findings are close
  cpu: number[]; // processor time of each report, compared with the kernel's count
}

const near = 0.1;
const percent = (part: number, all: number): string =>
  `${part} of ${all} (${all > 0 ? Math.round((100 * part) / all) : 0} %)`;
const count = <One>(all: readonly One[], is: (one: One) => boolean): number => all.filter(is).length;
const verdicts: readonly First[] = ['right', 'half', 'wrong', 'silent'];

function rowOf(kind: string, cases: readonly Case[]): string {
  const judged = cases.flatMap((one) => one.judged);
  const promises = cases.flatMap(({ program, judged: its }) =>
    its.flatMap(({ promises: all }) => all.filter(({ part }) => program.parts[part]!.component.kind === kind)),
  );
  return `| ${[
    kind,
    cases.length,
    ...verdicts.map((word) => count(judged, ({ first }) => first === word)),
    promises.length > 0
      ? percent(
          count(promises, ({ miss }) => Math.abs(miss) <= near),
          promises.length,
        )
      : '-',
    count(judged, ({ falsely }) => falsely.length > 0),
  ].join(' | ')} |`;
}

/** The kind of the component whose change gains most. */
const bestKind = ({ program, judged: [first] }: Case): string =>
  first?.best ? program.parts[first.best.part]!.component.kind : 'none gains 5 %';

const isReached = ({ slower, reported }: Case): boolean => slower <= reported + 0.02;
const agree = ({ judged: [one, other] }: Case): boolean => one?.firstName === other?.firstName;

export function totalsOf(cases: readonly Case[]): string {
  const judged = cases.flatMap((one) => one.judged);
  const promises = judged.flatMap((one) => one.promises);
  const isOpen = ({ form }: (typeof promises)[number]): boolean => form !== 'interval';
  const held = (those: typeof promises): string =>
    percent(
      count(those, ({ miss }) => Math.abs(miss) <= near),
      those.length,
    );
  const covered = promises.filter(
    ({ interval, gain, form }) =>
      gain.high >= (form === 'bound' ? 0 : interval.low) && (form === 'more' || gain.low <= interval.high),
  );
  const unnamed = judged.flatMap(({ silent }) => silent.map(({ gain }) => gain));
  const pairs = cases.filter((one) => one.judged.length > 1);
  const said = cases.filter((one) => isReached(one) || one.orMore);
  const cpu = cases.flatMap((one) => one.cpu).filter((part) => !Number.isNaN(part));
  const kinds = [...new Set(cases.map(bestKind))].sort();
  return [
    '| best change is in | programs | right | half | wrong | silent | promises on it within 10 points ' +
      '| promised for nothing |',
    '|---|---|---|---|---|---|---|---|',
    ...kinds.map((kind) =>
      rowOf(
        kind,
        cases.filter((one) => bestKind(one) === kind),
      ),
    ),
    '',
    `First findings of ${judged.length} recordings of ${cases.length} programs: ` +
      `${verdicts
        .map(
          (word) =>
            `${word} ${percent(
              count(judged, ({ first }) => first === word),
              judged.length,
            )}`,
        )
        .join(', ')}.`,
    `Values and intervals within ${100 * near} points of the gain: ${held(promises.filter((one) => !isOpen(one)))}; ` +
      `"up to" and "or more" on the right side or within ${100 * near} points: ${held(promises.filter(isOpen))}.`,
    `95 % intervals of savings that meet the quartiles of the gain: ${percent(covered.length, promises.length)}.`,
    `Changes that gain 5 % or more in parts that no finding names: ${unnamed.length} ` +
      `(median gain ${gainText(unnamed)}).`,
    `Recordings with a promise of 10 % or more for a change that gains less than 3 %: ` +
      `${percent(
        count(judged, ({ falsely }) => falsely.length > 0),
        judged.length,
      )}.`,
    `Two recordings with one first finding: ${percent(count(pairs, agree), pairs.length)}, ` +
      `${count(pairs, (one) => !agree(one) && one.close)} others are said to be close.`,
    `Reported slowdown reaches the real one within 2 points, or says "or more": ` +
      `${percent(said.length, cases.length)}, ` +
      `without "or more" ${count(cases, isReached)}; recorded programs took 2 % more processor time at most in ` +
      `${count(cases, ({ slowerCpu }) => slowerCpu <= 0.02)}.`,
    `Processor time of reports within 2 % of the kernel's count: ${percent(
      count(cpu, (part) => Math.abs(part) <= 0.02),
      cpu.length,
    )}.`,
    '',
  ].join('\n');
}

const gainText = (gains: readonly number[]): string =>
  gains.length > 0 ? `${(100 * median(gains)).toFixed(0)} %` : '-';
