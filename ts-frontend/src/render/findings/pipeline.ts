/** Sentences for threads that pass data to each other. */
import { item } from '../../model/index.js';
import type { Finding, MutualWaitFacts, PassedDataFacts, SlowestStageFacts } from '../../model/index.js';
import { mean } from '../format/units.js';
import { type Phrases, type Sentences, threadsText } from '../wording/phrases.js';

/** The maximum number of objects that are named. */
const named = 4;

/** What a loop waits for is not known: new data, or the end of the time for which others are kept out. */
const ofLoop =
  ' If the loop does not wait for new data, but until this thread lets others in (a spin lock or sequence lock of ' +
  "the program's own), compute before that, and keep others out only to store the results.";

export function slowestStage(
  finding: Finding,
  { code, stage, next, objects, savesNs, fasterNs }: SlowestStageFacts,
  say: Phrases,
): Sentences {
  const { title, titles, name, time } = say;
  return {
    text:
      `${title(code)}, in thread ${name(stage.thread)}, is the slowest stage of a pipeline and costs ` +
      `${say.costs(finding.costNs)}: it has ${time(stage.workNs)} of work, ` +
      `the second slowest stage (thread ${name(next.thread)}) ${time(next.workNs)}; the others wait at ` +
      `${titles(objects, named)}, while ${say.processorUse(finding.processorUse)}.`,
    remedy:
      (finding.advice.threads === 'more' && savesNs > 0
        ? `Divide this stage among more threads: that saves ${time(savesNs)}. Or make it faster, or do less in it: `
        : 'Make this stage faster, or do less in it: ') +
      `that saves up to ${time(fasterNs)}, until another stage limits the pipeline.` +
      (objects.some((id) => item(say.model.entities, id).rawKind === 'loop') ? ofLoop : ''),
  };
}

/** Work that is handed out piece by piece: who hands it out waits for the result of each piece. */
function oneByOne(finding: Finding, { code, awaited }: PassedDataFacts, say: Phrases): Sentences | null {
  if (awaited === null) return null;
  const { title, name, time } = say;
  const idle = threadsText(awaited.idle);
  return {
    text:
      `${title(code)} runs for one piece of work at a time, though several threads run it: thread ` +
      `${name(awaited.thread)} waits for a result at ${title(awaited.object)}, while ${idle} on average that could ` +
      `do more of this work ${mean(awaited.idle) === '1' ? 'waits' : 'wait'} for it. That costs ` +
      `${say.costs(finding.costNs)}; during this time, ${say.processorUse(finding.processorUse)}.`,
    remedy:
      `Hand out more pieces before waiting for the first result (keep the futures, wait at the end), or let thread ` +
      `${name(awaited.thread)} do other work meanwhile; with all processors at work, that would save up to ` +
      `${time(finding.savingNs)}.`,
  };
}

export function passedData(finding: Finding, facts: PassedDataFacts, say: Phrases): Sentences {
  const { objects, code, savesNs } = facts;
  const { costs, titles, title, processorUse, time } = say;
  const pieces = oneByOne(finding, facts, say);
  if (pieces !== null) return pieces;
  return {
    text:
      `Threads that pass data to each other wait for ${costs(finding.costNs)}, at ` +
      `${titles(objects, named)}, mostly while ${title(code)} runs; during this time, ` +
      `${processorUse(finding.processorUse)}.`,
    remedy:
      `Pass the data on ${finding.advice.pieces === 'smaller' ? 'in smaller pieces, ' : ''}earlier, or ` +
      `through a longer queue; that could save up to ${time(savesNs)}.`,
  };
}

/** Threads of two roles, of which one at a time works. */
function oneSideAtATime(finding: Finding, { objects, sides, code, savesNs }: MutualWaitFacts, say: Phrases): Sentences {
  const { costs, titles, title, name, processorUse, time } = say;
  const works = sides.map(({ thread, worksNs }) => `thread ${name(thread)} for ${time(worksNs)}`).join(', ');
  const mostly = code === 0 ? '' : `, mostly in ${title(code)}`;
  return {
    text:
      `Threads wait for each other in turn at ${titles(objects, named)}, so that one side at a time works (${works}` +
      `${mostly}). That costs ${costs(finding.costNs)}; during this time, ` +
      `${processorUse(finding.processorUse)}.`,
    remedy:
      'Let one side work on the next piece while the other one works on this one (send the next request, or hand out ' +
      'the next pieces, before waiting for this result; use the result of the one before): that could save up to ' +
      `${time(savesNs)}. Where the next piece depends on this result, only less work on either side helps.`,
  };
}

export function mutualWait(finding: Finding, facts: MutualWaitFacts, say: Phrases): Sentences {
  if (facts.sides.length > 0) return oneSideAtATime(finding, facts, say);
  const { objects, savesNs } = facts;
  const { costs, titles, processorUse, time } = say;
  return {
    text:
      `Threads that do the same work wait for each other at ${titles(objects, named)} for ` +
      `${costs(finding.costNs)}, while ${processorUse(finding.processorUse)}.`,
    remedy: `Produce the data earlier, or let the waiters do other work first; that could save up to ${time(savesNs)}.`,
  };
}
