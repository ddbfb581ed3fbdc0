/** Work and span in one line of the head of a report, where they were recorded. */
import { isMostlyUnended, isMuchUnseen, workSpanTotalsOf, type Model } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { figure, time } from '../format/units.js';

/** '' if work and span were not asked for. */
export function workSpanText(model: Model, options: Pick<RenderOptions, 'ascii'>): string {
  if (!model.raw.head.spanRecorded) return '';
  const its = workSpanTotalsOf(model);
  if (its === null)
    return 'Work and span: not known, since no thread of the program waited for another one or created one.';
  const next = isMostlyUnended(its, model)
    ? `they leave out ${time(its.unendedNs, options)} of processor time, of threads whose work did not end with an ` +
      'event that Quartz sees; quartz path --span shows the rest.'
    : isMuchUnseen(its.unseenOrder, model)
      ? 'the span may be longer, since threads wait for what Quartz does not see; quartz path --span names it.'
      : 'more processors than that gain little; quartz path --span shows the time on other numbers of processors, ' +
        'and what limits it.';
  return (
    `Work and span: work ${time(its.workNs, options)}, span ${time(its.spanNs, options)}, parallelism ` +
    `${figure(its.parallelism)}: ${next}`
  );
}
