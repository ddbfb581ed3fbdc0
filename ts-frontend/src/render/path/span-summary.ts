/** What the report says of work and span as a whole, in sentences: for text, and for the HTML page. */
import { isMostlyUnended, isMuchUnseen, sharesWork } from '../../model/index.js';
import type { Model, WorkSpan } from '../../model/index.js';
import { entityName } from '../wording/names.js';
import type { RenderOptions } from '../format/options.js';
import { scalingSentence } from './scaling.js';
import { clean } from '../format/text.js';
import { count, figure, time } from '../format/units.js';

const few = 0.1; // relative difference below which two spans are considered equal

type Letters = Pick<RenderOptions, 'ascii'>;

/** Lengths, what limits the run on more processors, and what must be known to understand these. */
interface SpanSummary {
  lengths: string;
  limits: string[];
  notes: string[];
}

export const spanSummary = (model: Model, span: WorkSpan, options: Letters): SpanSummary => ({
  lengths: lengths(model, span, options),
  limits: span.scaling.map((fact) => clean(scalingSentence(model, span, fact, options), options)),
  notes: notes(model, span, options),
});

function lengths(model: Model, span: WorkSpan, options: Letters): string {
  const { spanNs, typicalSpanNs: typical, burdenedSpanNs: burdened } = span;
  const spans = [
    typical !== null && typical < (1 - few) * spanNs ? `typically ${time(typical, options)}` : '',
    burdened !== null && burdened > (1 + few) * spanNs ? `burdened ${time(burdened, options)}` : '',
  ].filter((text) => text !== '');
  return (
    `Work ${time(span.workNs, options)}, span ${time(spanNs, options)}` +
    `${spans.length > 0 ? ` (${spans.join(', ')})` : ''}: parallelism ${figure(span.parallelism)}; ` +
    `it took ${time(model.elapsedNs, options)} on ${count(model.processors)} ` +
    (model.processors === 1 ? 'processor' : 'processors')
  );
}

function notes(model: Model, span: WorkSpan, options: Letters): string[] {
  const { spanNs, burdenedSpanNs: burdened } = span;
  const text: string[] = [];
  const note = (line: string): void => void text.push(line);
  if (model.raw.head.attached)
    note(
      'the program ran before this recording: work and span are those since then, and every thread of that time ' +
        'starts with a span of 0',
    );
  if (!span.cpuWaitsOut)
    note(
      'waits for CPUs could not be distinguished from work, so both include them: record on a machine that is not busy',
    );
  if (span.cpuWaitNs !== null && span.cpuWaitNs > few * span.workNs)
    note(`processors waited ${time(span.cpuWaitNs, options)} for a CPU, which none of these numbers includes`);
  if (model.raw.head.publisher === 'pthread')
    note(
      'these are work and span of threads, and of tasks of OpenMP and TBB: where threads take other tasks from a ' +
        'queue, as in a thread pool, the order in which they took them counts as if it were required' +
        (sharesWork(span) ? '; with more threads the span may be shorter (quartz run --try measures it)' : ''),
    );
  if (isMuchUnseen(span.unseenOrder, model)) note(unseenText(model, span, options));
  if (isMostlyUnended(span, model))
    note(
      `${time(span.unendedNs, options)} of processor time is in neither: it is that of threads whose work did ` +
        'not end with an event that the pthread layer sees, or that were at work when the program or the recording ' +
        'ended; therefore there is no prediction for other numbers of processors',
    );
  if (burdened !== null && burdened > 1.5 * spanNs)
    note(
      'handing work to other processors takes longer than the span itself: make the spawned calls larger, ' +
        'or spawn fewer',
    );
  if (span.lostCrumbs > 0)
    note(`${count(span.lostCrumbs)} records were lost: what is on the span is less certain, its length is not`);
  return text;
}

/** Why the span may be longer than what is known of it. */
function unseenText(model: Model, { unseenOrder: unseen }: WorkSpan, options: Letters): string {
  const waits = unseen.entity
    ? `threads waited ${time(unseen.waitNs, options)}, added up, for what the pthread layer does not see, most of it ` +
      `at ${entityName(model, unseen.entity, options)}`
    : '';
  const regions = unseen.regions ? "the beginning and end of parallel regions of LLVM's OpenMP are not seen" : '';
  return (
    `${[regions, waits].filter((part) => part !== '').join('; ')}: this orders no work here, so the span may be ` +
    'longer, and the times on other numbers of processors are lower bounds'
  );
}
