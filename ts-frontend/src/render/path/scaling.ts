/** Sentences on run times with other numbers of processors, as predicted from work and span. */
import { item } from '../../model/index.js';
import type { Model, Scaling, WorkSpan } from '../../model/index.js';
import { label } from '../wording/names.js';
import type { RenderOptions } from '../format/options.js';
import { count, figure, percent, time } from '../format/units.js';

type Letters = Pick<RenderOptions, 'ascii'>;

const onlyCaller = 0.95; // share from which on the others are not worth mentioning

/** ", called by prepare (45.0 %) and crunch (40.0 %)" */
function callersText(model: Model, callers: readonly { entity: number; share: number }[], options: Letters): string {
  const name = (entity: number): string => label(item(model.entities, entity), options);
  const [first] = callers;
  if (first === undefined) return '';
  if (first.share >= onlyCaller) return `, called by ${name(first.entity)}`;
  return `, called by ${callers.map(({ entity, share }) => `${name(entity)} (${percent(share, 1)})`).join(', ')}`;
}

export function scalingSentence(model: Model, span: WorkSpan, fact: Scaling, options: Letters): string {
  switch (fact.form) {
    case 'more-processors-help':
      return (
        `With ${count(fact.processors)} processors, and threads for them, the run would take ` +
        `${percent(fact.share, 1)} less time than with ${count(model.processors)}.`
      );
    case 'span-limits': {
      const { code } = fact;
      const free = (ns: number | null): string =>
        ns === null ? '' : ` (if it took no time, the span would be ${time(ns, options)})`;
      const saves = fact.share < 0.01 ? 'save next to nothing' : `save only ${percent(fact.share, 1)}`;
      const because =
        code === null
          ? 'what is on the span has to become parallel, or faster'
          : `${percent(code.share, 1)} of the span is in ${label(item(model.entities, code.entity), options)} ` +
            `itself${callersText(model, code.callers, options)}: make that parallel, or faster${free(code.freeSpanNs)}`;
      return (
        `More processors will not help much: ${count(fact.processors)} would ${saves}, ` +
        `because the parallelism is ${figure(fact.parallelism)}; ${because}.`
      );
    }
    case 'lock-limits':
      return (
        `One lock limits it: ${label(item(model.entities, fact.entity), options)} is held for ` +
        `${time(fact.holdNs, options)} in all, so ` +
        `no number of processors is more than ${figure(fact.speedup)} times as fast as one; ` +
        'hold it for less time, or split what it protects.'
      );
    case 'fine-grain': {
      const site = item(span.sites, fact.site);
      const start = site.start === 0 ? 'what is spawned' : label(item(model.entities, site.start), options);
      return (
        `The grain is too fine: a call of ${start} does ${time(fact.meanWorkNs, options)} of work on average, ` +
        `and handing work to other processors would make the span ${time(fact.burdenNs, options)} longer; ` +
        'spawn fewer and larger calls.'
      );
    }
  }
}
