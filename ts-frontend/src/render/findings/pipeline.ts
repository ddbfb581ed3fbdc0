/** Sentences for threads that pass data to each other. */
import type { Finding, MutualWaitFacts, PassedDataFacts, SlowestStageFacts } from '../../model/index.js';
import type { Phrases, Sentences } from '../wording/phrases.js';

/** The maximum number of objects that are named. */
const named = 4;

export function slowestStage(
  finding: Finding,
  { code, stage, next, objects, savesNs }: SlowestStageFacts,
  say: Phrases,
): Sentences {
  const { title, titles, name, time } = say;
  return {
    text:
      `${title(code)}, in thread ${name(stage.thread)}, is the slowest stage of a pipeline and costs ` +
      `${say.costs(finding.costNs)}: it has ${time(stage.workNs)} of work, ` +
      `the second slowest stage (thread ${name(next.thread)}) ${time(next.workNs)}; the others wait at ` +
      `${titles(objects, named)}, while ${say.processorUse(finding.processorUse)}.`,
    remedy: `${
      finding.advice.threads === 'more'
        ? 'Divide this stage among more threads, or make it faster'
        : 'Make this stage faster'
    }: that saves ${time(savesNs)}; from then on, another stage limits the pipeline.`,
  };
}

export function passedData(
  finding: Finding,
  { objects, code, savesNs }: PassedDataFacts,
  { costs, titles, title, processorUse, time }: Phrases,
): Sentences {
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

export function mutualWait(
  finding: Finding,
  { objects, savesNs }: MutualWaitFacts,
  { costs, titles, processorUse, time }: Phrases,
): Sentences {
  return {
    text:
      `Threads that do the same work wait for each other at ${titles(objects, named)} for ` +
      `${costs(finding.costNs)}, while ${processorUse(finding.processorUse)}.`,
    remedy: `Produce the data earlier, or let the waiters do other work first; that could save up to ${time(savesNs)}.`,
  };
}
