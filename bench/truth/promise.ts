/**
 * What a report promises for the registered change of a program, as parts of the elapsed time, and how that stands to
 * what the change saved. Pure.
 */
import { lineMoves, type Finding, type Model } from '../../ts-frontend/src/model/index.js';
import { namingOf } from './verdict.js';
import type { Registered } from './program.js';

/** interval: between low and high; bound: up to high; more: low or more; none: no finding names the cause. */
export type Promise =
  | { form: 'interval' | 'bound' | 'more'; low: number; high: number; of: Finding }
  | { form: 'none'; of: Finding | undefined };

/** Savings of these findings are said as `up to`. */
const bounded: ReadonlySet<Finding['facts']['form']> = new Set([
  'optimize',
  'lock',
  'passed-data',
  'mutual-wait',
  'yields',
  'goroutine-lock',
  'nothing-runs',
  'processes',
  'small-threads',
]);

interface Saved {
  form: 'interval' | 'bound' | 'more';
  lowNs: number;
  ns: number;
}

/** What the finding says about one thread that does all of the work; undefined: nothing. */
function savedByOne({ facts }: Finding): Saved | undefined {
  if (facts.form === 'hand-overs' && facts.aloneNs !== null)
    return { form: 'more', lowNs: facts.aloneNs, ns: Infinity };
  return facts.form === 'yields' ? { form: 'bound', lowNs: 0, ns: facts.aloneNs } : undefined;
}

/** What it says about the change; `spreads`: one that divides the work among more threads. */
export function savedBy(of: Finding, { spreads }: Pick<Registered, 'spreads'>): Saved {
  const { facts, savingNs, costNs } = of;
  const most = of.bound?.mostNs ?? Infinity;
  const exact = (ns: number): Saved => ({
    form: 'interval',
    lowNs: Math.min(ns, most),
    ns: Math.min(ns, most),
  });
  switch (facts.form) {
    case 'serial':
      return spreads
        ? {
            form: 'interval',
            lowNs: Math.min(most, facts.spreadNs),
            ns: Math.min(most, facts.inAll?.spreadNs ?? facts.spreadNs),
          }
        : exact(Math.max(costNs, facts.allNs));
    case 'hand-overs':
      return facts.waits === null
        ? { form: 'more', lowNs: facts.leastNs, ns: Infinity }
        : { form: 'interval', lowNs: facts.leastNs, ns: facts.mostNs };
    case 'io':
      return {
        form: 'bound',
        lowNs: 0,
        ns:
          (spreads ? facts.several?.savesNs : (facts.small?.savedNs ?? facts.rarerNs)) ??
          (facts.waits === 'sleep' ? Math.max(savingNs, facts.goesNs) : savingNs),
      };
    case 'wake-ups':
      return { form: 'interval', lowNs: facts.leastNs, ns: facts.mostNs };
    case 'collection':
      return { form: 'interval', lowNs: facts.savesNs, ns: facts.mostNs };
    case 'openmp':
      if (facts.use === 'order') return { form: 'bound', lowNs: 0, ns: facts.mostNs };
      return facts.use === 'exclusion'
        ? { form: 'more', lowNs: facts.savesNs, ns: Infinity }
        : { form: 'interval', lowNs: facts.savesNs, ns: facts.mostNs };
    case 'lock-churn':
      return lineMoves(facts)
        ? { form: 'more', lowNs: facts.leastNs, ns: Infinity }
        : { form: 'interval', lowNs: facts.leastNs, ns: facts.mostNs };
    case 'process-starts':
      return { form: 'interval', lowNs: facts.leastNs, ns: facts.oneNs ?? facts.savesNs };
    case 'compilation':
    case 'serialization':
      return { form: 'bound', lowNs: 0, ns: facts.savesNs };
    case 'kernel-work':
      return facts.work === 'calls' ? exact(savingNs) : { form: 'interval', lowNs: facts.leastNs, ns: facts.savesNs };
    case 'short-threads':
      return facts.mostNs > facts.savesNs
        ? { form: 'interval', lowNs: facts.savesNs, ns: facts.mostNs }
        : { form: 'more', lowNs: facts.savesNs, ns: Infinity };
    case 'oversubscription':
      return { form: 'interval', lowNs: facts.fewer.savesNs, ns: facts.fewer.mostNs ?? facts.fewer.savesNs };
    case 'sharing':
      return { form: 'bound', lowNs: 0, ns: facts.mostNs };
    case 'optimize':
      return {
        form: 'bound',
        lowNs: 0,
        ns: Math.min(most, Math.max(facts.mostNs + facts.calledNs + facts.restNs, facts.around?.ns ?? 0)),
      };
    default:
      return bounded.has(facts.form) ? { form: 'bound', lowNs: 0, ns: savingNs } : exact(savingNs);
  }
}

export function promiseOf(model: Model, registered: Registered): Promise {
  const of = namingOf(model, registered);
  if (!of || of.savingNs <= 0) return { form: 'none', of };
  const saved = registered.joins ? savedByOne(of) : savedBy(of, registered);
  if (!saved) return { form: 'none', of };
  const { form, lowNs, ns } = saved;
  return { form, low: lowNs / model.elapsedNs, high: Math.min(1, ns / model.elapsedNs), of };
}

/** By how much the gain is above (or below, then less than 0) what was promised; undefined: nothing was. */
export function missBy(promise: Promise, gain: number): number | undefined {
  if (promise.form === 'none') return undefined;
  if (gain > promise.high) return gain - promise.high;
  return promise.form !== 'bound' && gain < promise.low ? gain - promise.low : 0;
}
