/** Sentences for parallel work that is divided among too few threads, or unevenly. */
import type { Finding, TooFewThreadsFacts, UnevenFacts } from '../../model/index.js';
import { type Phrases, type Sentences } from '../wording/phrases.js';

const partsText = (parts: readonly number[], { name }: Phrases): string =>
  parts.length > 0 ? ` Most of it is in ${parts.slice(0, 2).map(name).join(' and ')}.` : '';

/** Less work in the code that is divided: all of its time counts, also while all processors are busy. */
function fasterText(faster: UnevenFacts['faster'], { title, costs, time }: Phrases): string {
  if (faster === null) return '';
  const { entity, ns, busyNs } = faster;
  const busy = busyNs >= ns / 100 ? `, ${time(busyNs)} of that while all processors are busy` : '';
  return (
    ` Or make ${title(entity)} faster, which takes ${costs(ns)} in all${busy}: every 10 % less work there saves ` +
    `${time(ns / 10)}.`
  );
}

export function tooFewThreads(finding: Finding, facts: TooFewThreadsFacts, say: Phrases): Sentences {
  const { many, threads, atOnce, spreadNs, even, goroutines } = facts;
  const { advice } = finding;
  const ran = many ? '' : `${threads > atOnce ? `at most ${atOnce} at a time` : threads} ran it, while `;
  if (goroutines !== null) return tooFewGoroutines(finding, facts, say);
  const more =
    advice.threads === 'more'
      ? `Divide it among more threads${advice.pieces === 'smaller' ? ', in smaller pieces' : ''}: spread`
      : 'Use all processors for it: spread';
  return {
    text:
      `${say.title(finding.entity)} costs ${say.costs(finding.costNs)} with too few threads at work: ${ran}` +
      say.processorUse(finding.processorUse) +
      `${say.waitingAt(facts.waiting)}.${partsText(facts.parts, say)}`,
    remedy:
      `${more} over ${say.model.usable} processors, that would save up to ${say.time(spreadNs)}` +
      (even ? `; divided evenly among the ${even.threads} that there are, ${say.time(even.savesNs)}.` : '.') +
      fasterText(facts.faster, say),
  };
}

/** An upper bound is given where it is more than this multiple of what is saved certainly. */
const noticeably = 1.1;

function tooFewGoroutines(
  finding: Finding,
  { parts, spreadNs, goroutines }: TooFewThreadsFacts,
  say: Phrases,
): Sentences {
  const unknown = goroutines === 'unknown';
  return {
    text:
      `${say.title(finding.entity)} costs ${say.costs(finding.costNs)} with too few goroutines that can run: ` +
      `${say.processorUse(finding.processorUse)}, while threads of Go's run-time library had none to run.` +
      partsText(parts, say) +
      (unknown ? ' Goroutines may wait for a lock or at a channel: their waits are not recorded.' : ''),
    remedy:
      (unknown ? 'If goroutines wait for a lock, hold it for less time. Otherwise divide' : 'Divide') +
      ` the work among more goroutines, or pass on more at a time: spread over ${say.model.usable} processors, that ` +
      `would save up to ${say.time(spreadNs)}.`,
  };
}

export function unevenDivision(finding: Finding, facts: UnevenFacts, say: Phrases): Sentences {
  const { slowest, last, threads, atOnce, barrier, code, spreadNs, among, evenNs, evenMostNs } = facts;
  const { title, name, time } = say;
  const shared = threads > atOnce ? `${atOnce} threads at a time` : `${threads} threads`;
  const who = slowest
    ? `thread ${name(slowest.thread)} does ${time(slowest.workNs)} of it, the mean is ${time(slowest.meanNs)}`
    : last !== null
      ? `only thread ${name(last)} still had work`
      : `it is divided among ${shared}`;
  const where =
    barrier !== null
      ? `Unequal work before ${title(barrier)}, in ${title(code)},`
      : `Unequal division of the work in ${title(code)}${say.calledFrom(facts.callers)}`;
  const smaller = finding.advice.pieces === 'smaller';
  const schedule =
    facts.openmp && smaller
      ? ' (schedule(dynamic) for a loop: by default, and with schedule(static), each thread gets the same number of ' +
        'iterations, however long they take)'
      : '';
  const largest =
    facts.openmp || barrier !== null || !smaller ? '' : ' (if threads take them from a queue, the largest first)';
  const saved =
    evenMostNs > noticeably * evenNs
      ? `could save ${time(evenNs)}, or up to ${time(evenMostNs)} if it was not other programs that made threads late`
      : `could save ${time(evenNs)}`;
  const remedy = facts.many
    ? `${smaller ? 'Make the pieces smaller, or start the largest first' : 'Start the largest pieces first'}; that ` +
      saved
    : facts.pool
      ? `Start the largest pieces of work first${smaller ? ', or divide them' : ''}: spread evenly over ${among} ` +
        `threads, that ${saved}`
      : `Divide the work evenly among ${among} threads${smaller ? ', or into smaller pieces' : ''}` +
        `${schedule}${largest}; that ${saved}`;
  return {
    text:
      `${where} costs ${say.costs(finding.costNs)}: ${who}; during this time, ` +
      `${say.processorUse(finding.processorUse)}${say.waitingAt(facts.waiting)}.${partsText(facts.parts, say)}`,
    remedy:
      remedy +
      (spreadNs !== null
        ? `; ${finding.advice.threads === 'more' ? 'divided among more threads and ' : ''}spread over ` +
          `${say.model.usable} processors, up to ${time(spreadNs)}.`
        : '.') +
      fasterText(facts.faster, say),
  };
}
