/** Input, output and sleep that is not overlapped; and time in which nothing runs at all. */
import type { Finding, IoFacts, NothingRunsFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import { counted, type Phrases, type Sentences, threadsText } from '../wording/phrases.js';

export function io(finding: Finding, facts: IoFacts, say: Phrases): Sentences {
  const { waits, call, several } = facts;
  const where = say.title(finding.entity),
    costs = say.costs(finding.costNs),
    threads = threadsText(facts.threads);
  const held = facts.held.length > 0 ? `; threads that waited meanwhile: ${say.eachAt(facts.held)}` : '';
  const meanwhile = `and meanwhile ${say.meanwhile(finding.meanwhile)}${held}.`;
  const inCall = call === null ? '' : ` (${call})`;
  const together = several
    ? `have several under way at a time (more threads, or asynchronous calls): ${several.atATime} would save ${say.time(several.savesNs)}`
    : '';
  const saved = say.time(facts.overlapNs);
  if (waits === 'children') {
    return {
      text: `${where} waits for child processes${inCall} during ${costs}, ${threads} on average, ${meanwhile}`,
      remedy: `Run more of them at a time, or do other work meanwhile; that could save up to ${saved}. What they do is recorded with --children.`,
    };
  }
  if (waits === 'sleep') {
    return {
      text: `${where} sleeps (${call ?? 'nanosleep'}) during ${costs}, ${threads} on average, ${meanwhile}`,
      remedy:
        `If it looks again after each sleep, let it wait for what it looks for (a condition, a semaphore): up to ${say.time(facts.goesNs)} would go. ` +
        `If the sleep stands for something slow, ${together === '' ? 'have other work done meanwhile' : together}.`,
    };
  }
  return {
    text:
      `${facts.mayBeSleep ? 'Input, output or sleep' : 'Input and output'} in ${where}${call === null ? '' : `, in ${call},`} take ${costs} that is not overlapped: ` +
      `${threads} waited for it on average, ${meanwhile}`,
    remedy:
      `${waits === 'others' ? 'Where others (clients, other programs) send too late, they set the pace; else overlap' : 'Overlap'} ` +
      `it with computation (start it early, or give it a thread of its own); that could save up to ${saved}.` +
      (several && several.savesNs > facts.overlapNs ? ` Or ${together}.` : ''),
  };
}

export function nothingRuns(
  finding: Finding,
  { waiting, waits }: NothingRunsFacts,
  { costs, eachAt, title, time }: Phrases,
): Sentences {
  const each = waits
    .map((one) => `${title(one.entity)} ${counted(count(one.count), 'time')}, ${time(one.meanNs)} each`)
    .join('; ');
  return {
    text:
      `Nothing runs during ${costs(finding.costNs)}: all threads wait, ${eachAt(waiting)}, and none is at work that could wake them. ` +
      `So a wait that has a time limit has to run out (or a signal, or another program, ends it). Threads waited for ${each}.`,
    remedy: `Find out who should wake whom there: a wait with a time limit whose condition nobody signals, or signals too late. Woken in time, up to ${time(finding.costNs)} would go.`,
  };
}
