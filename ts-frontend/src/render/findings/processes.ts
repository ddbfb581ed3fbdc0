/** Sentences for waiting for other processes in MPI calls. */
import type { Finding, ProcessesFacts } from '../../model/index.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';
import { count } from '../format/units.js';

/** The advice depends on which kind of wait takes the most time. */
function remedyOf({ startNs, messageNs, collectiveNs, savesNs }: ProcessesFacts, say: Phrases): string {
  if (startNs >= Math.max(messageNs, collectiveNs))
    return 'Starting and ending the processes takes as long however much they have to do: let them do more in one run.';
  const saves = `that could save up to ${say.time(savesNs - startNs)}.`;
  const one =
    messageNs > collectiveNs
      ? 'The process at the other end sends, or receives, too late: its profile says what it does instead. Post ' +
        'receives early (MPI_Irecv), and do other work until the message has come'
      : 'The processes that come last decide how long: the profile of the one that waits least there says what it ' +
        'does instead. Divide the work evenly, or do other work while waiting (MPI_Iallreduce, then MPI_Wait)';
  return `${one}; ${saves}`;
}

export function processes(finding: Finding, facts: ProcessesFacts, say: Phrases): Sentences {
  const calls = facts.calls.map(({ entity, ns }) => `in ${say.title(entity)} for ${say.time(ns)}`);
  const further = facts.further > 0 ? [`in ${counted(count(facts.further), 'other call')}`] : [];
  return {
    text:
      `This process waits for others for ${say.costs(finding.costNs)}, while nothing else in it runs: ` +
      `${[...calls, ...further].join(', ')}.`,
    remedy: remedyOf(facts, say),
  };
}
