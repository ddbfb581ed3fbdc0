/** Whether the reports on a generated program say what its changes gain. Pure. */
import type { Finding, Model } from '../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../ts-frontend/src/render/findings/index.js';
import { missBy, savedBy } from '../promise.js';
import type { Generated, Variant } from './draw.js';

export interface Gain extends Variant {
  gain: number; // of the elapsed time
  low: number; // quartiles of the rounds
  high: number;
}

/** right: part and kind; half: the part alone. */
export type First = 'right' | 'half' | 'wrong' | 'silent';

export interface PromiseOf {
  part: number;
  gain: Gain;
  form: 'interval' | 'bound' | 'more';
  low: number;
  high: number;
  miss: number; // points beyond it, 0: held
  interval: { low: number; high: number }; // the 95 % interval of the saving
}

export interface Judged {
  best: Gain | undefined; // none gains as much as counts
  first: First;
  firstName: string;
  promises: PromiseOf[];
  silent: Gain[]; // gains of parts that no finding names
  falsely: PromiseOf[]; // promised, and nothing is gained
}

/** A change that gains less is not looked for. */
const leastGain = 0.05;
/** Changes whose gains differ by less are as good as each other. */
const asGood = 0.05;
const falsePromise = 0.1;
const noGain = 0.03;

/** Where the quartiles of one gain are further apart, the rounds do not say which change gains most. */
const mostApart = 0.15;
export const isSure = (gains: readonly Gain[]): boolean => gains.every(({ low, high }) => high - low <= mostApart);

/** The component whose code is at that place of the sources; undefined: none's. */
export type KindAt = (file: string, line: number) => string | undefined;

/** A component's code begins with a comment that begins with its kind. */
export function placesOf(sources: ReadonlyMap<string, string>): KindAt {
  const linesOf = new Map([...sources].map(([file, text]) => [file, text.split('\n')]));
  return (file, line) => {
    const before = (linesOf.get(file) ?? []).slice(0, line);
    return before.reverse().flatMap((text) => /^\/\* ([a-z-]+): /.exec(text)?.[1] ?? [])[0];
  };
}

/** The part that a finding names: by its own name, what is related to it, or else its sentences, places as well. */
function partOf(model: Model, finding: Finding, { parts }: Generated, kindAt: KindAt): number | undefined {
  const text = findingSentences(model, finding, { ascii: true }).text.replace(/\s+/g, ' ');
  const related = finding.related.map((id) => model.entities[id]?.name ?? '').join(' ');
  for (const said of [finding.name, related, text]) {
    const lines = [...said.matchAll(/([\w-]+\.c):(\d+)/g)];
    const places = parts.map(({ component: { names, kind } }) => {
      const at = said.search(names);
      const line = lines.find(([, file, number]) => kindAt(file!, Number(number)) === kind)?.index ?? -1;
      return at < 0 || line < 0 ? Math.max(at, line) : Math.min(at, line);
    });
    const found = places.filter((at) => at >= 0);
    if (found.length > 0) return places.indexOf(Math.min(...found));
  }
  return undefined;
}

export function judge(model: Model, program: Generated, gains: readonly Gain[], kindAt: KindAt): Judged {
  const { findings, elapsedNs } = model;
  const bestOf = (those: readonly Gain[]): Gain | undefined =>
    [...those].sort((a, b) => b.gain - a.gain).find(({ gain }) => gain >= leastGain);
  const best = bestOf(gains);
  const named = findings.map((finding) => ({ finding, part: partOf(model, finding, program, kindAt) }));
  const changesOf = (part: number | undefined) => (part === undefined ? [] : program.parts[part]!.component.changes);
  const advised = ({ finding, part }: (typeof named)[number]): Gain[] =>
    gains.filter(
      (one) =>
        one.part === part && changesOf(part).some(({ fix, kinds }) => fix === one.fix && kinds.includes(finding.kind)),
    );
  const promises = named.flatMap((one): PromiseOf[] => {
    const most = advised(one).sort((a, b) => b.gain - a.gain)[0];
    if (!most || one.finding.savingNs <= 0) return [];
    const its = changesOf(one.part).find(({ fix }) => fix === most.fix)!;
    const { form, lowNs, ns } = savedBy(one.finding, { spreads: its.spreads ?? false });
    const low = lowNs / elapsedNs,
      high = Math.min(1, ns / elapsedNs);
    const { lowNs: from, highNs: to } = one.finding.savingCi95;
    return [
      {
        part: most.part,
        gain: most,
        form,
        low,
        high,
        miss: missBy({ form, low, high, of: one.finding }, most.gain) ?? 0,
        interval: { low: from / elapsedNs, high: to / elapsedNs },
      },
    ];
  });
  return {
    best,
    first: firstOf(),
    firstName: findings[0] ? `${findings[0].kind} ${findings[0].name}` : 'none',
    promises,
    silent: program.parts.flatMap((_, part) => {
      const most = bestOf(gains.filter((one) => one.part === part));
      return most && !named.some((one) => one.part === part) ? [most] : [];
    }),
    falsely: promises.filter(({ form, low, gain }) => form !== 'bound' && low >= falsePromise && gain.gain < noGain),
  };

  function firstOf(): First {
    const first = named[0];
    if (!first) return best ? 'silent' : 'right';
    if (!best)
      return first.finding.savingNs < falsePromise * elapsedNs || first.finding.kind === 'optimize' ? 'right' : 'wrong';
    const enough = best.gain - asGood;
    if (advised(first).some(({ gain }) => gain >= enough)) return 'right';
    return gains.some(({ part, gain }) => part === first.part && gain >= enough) ? 'half' : 'wrong';
  }
}
