/** Phrases that several findings and notices share: names, costs, use of the processors. */
import { item } from '../../model/index.js';
import type { Finding, Model, WaitingAt } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { count, mean, percent, time } from '../format/units.js';
import { titleOf } from './names.js';
import { briefly } from './short-names.js';

/** The sentences of a finding: its cost with the evidence, and the advised change. */
export interface Sentences {
  text: string;
  remedy: string;
}

export interface Phrases {
  model: Model;
  time: (ns: number) => string;
  share: (part: number) => string; // `part` is between 0 and 1
  costs: (ns: number) => string; // "47.0 ms of 4.22 s (1.1 %)"
  title: (id: number) => string; // "mutex queue", "sum (sum.c:7)"
  titles: (ids: readonly number[], most?: number) => string; // "a, b and 3 more"; equal titles are mentioned once
  name: (id: number) => string; // the name of a procedure or thread, without its location
  processorUse: (processorUse: Finding['processorUse']) => string;
  calledFrom: (callers: readonly number[]) => string; // ", called from a > b,"
  takenIn: (callers: readonly number[]) => string; // ", taken in lookup and insert,"
  waitingAt: (waiting: WaitingAt | null) => string; // "; 2 threads waited at mutex queue"
  eachAt: (waiting: readonly WaitingAt[]) => string; // "2 at condition room, 1 at mutex m"
}

/** "1 thread", "2.5 threads" */
export const threadsText = (number: number): string => counted(mean(number), 'thread');
export const counted = (number: string, what: string): string => `${number} ${number === '1' ? what : `${what}s`}`;

export function phrases(model: Model, options: Pick<RenderOptions, 'ascii'>): Phrases {
  const name = (id: number): string => briefly(item(model.entities, id).name);
  const ns = (value: number): string => time(value, options);
  const title = (id: number): string => titleOf(model, id);
  const callerName = (id: number): string => {
    const { runsFor } = item(model.entities, id);
    return name(runsFor !== 0 ? runsFor : id);
  };
  return {
    model,
    time: ns,
    title,
    name,
    share: (part) => percent(part, 1),
    costs: (value) => `${ns(value)} of ${ns(model.elapsedNs)} (${percent(value, model.elapsedNs)})`,
    titles: (ids, most = Infinity) => {
      const all = [...new Set(ids.map(title))];
      return all.slice(0, most).join(', ') + (all.length > most ? ` and ${count(all.length - most)} more` : '');
    },
    processorUse: (processorUse) => processorUseText(model, processorUse),
    calledFrom: (callers) => (callers.length > 0 ? `, called from ${callers.map(name).join(' > ')},` : ''),
    takenIn: (callers) => (callers.length > 0 ? `, taken in ${callers.map(callerName).join(' and ')},` : ''),
    waitingAt: (waiting) => (waiting ? `; ${threadsText(waiting.threads)} waited at ${title(waiting.entity)}` : ''),
    eachAt: (waiting) => waiting.map(({ entity, threads }) => `${mean(threads)} at ${title(entity)}`).join(', '),
  };
}

/** A sentence as the rest of another one. */
export const continued = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);

/** Explains which time is charged to a lock itself. */
export const heldText = (title: string): string =>
  `Code that runs while ${title} is held (without the procedures that it calls)`;

/** "1 of 18 processors was busy, 2 were spinning and 15 idle" */
function processorUseText({ usable, processors }: Model, { busy, spinning, idle }: Finding['processorUse']): string {
  const rest = [
    ...(spinning >= 0.05 ? [`${mean(spinning)} spinning`] : []),
    ...(idle >= 0.05 ? [`${mean(idle)} idle`] : []),
  ];
  const verb = mean(busy) === '1' ? 'was' : 'were';
  const head =
    usable < processors
      ? `${mean(busy)} of ${counted(count(usable), 'processor')} ${verb} busy (other processes of the program had ` +
        `${processors - usable})`
      : processors === 1
        ? `the processor ${busy >= 0.5 ? 'was' : 'was not'} busy`
        : `${mean(busy)} of ${processors} processors ${verb} busy`;
  return rest.length === 2 ? `${head}, ${rest.join(' and ')}` : [head, ...rest].join(' and ');
}
