/** Sentences for waiting for other processes in MPI calls. */
import type { Finding, ProcessesFacts } from '../../model/index.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';
import { count } from '../format/units.js';

/** The advice depends on which kind of wait takes the most time. */
function remedyOf({ startNs, messageNs, collectiveNs, savesNs }: ProcessesFacts, say: Phrases): string {
  if (startNs >= Math.max(messageNs, collectiveNs))
    return 'Starting and ending the processes takes the same time however much they have to do: let each run do more.';
  const saves = `that could save up to ${say.time(savesNs - startNs)}.`;
  const one =
    messageNs > collectiveNs
      ? 'The process at the other end sends or receives too late: its profile shows what it does until then. Post ' +
        'receives early (MPI_Irecv), and do other work until the message arrives'
      : 'The process that arrives last determines how long the others wait. It is the one that waits least there; ' +
        'its profile shows what it does until then. Divide the work evenly, or do other work while waiting ' +
        '(MPI_Iallreduce, then MPI_Wait)';
  return `${one}; ${saves}`;
}

export function processes(finding: Finding, facts: ProcessesFacts, say: Phrases): Sentences {
  const calls = facts.calls.map(({ entity, ns }) => `in ${say.title(entity)} for ${say.time(ns)}`);
  const further = facts.further > 0 ? [`in ${counted(count(facts.further), 'other call')}`] : [];
  return {
    text:
      `This process waits for other processes for ${say.costs(finding.costNs)}, while none of its threads runs: ` +
      `${[...calls, ...further].join(', ')}.`,
    remedy: remedyOf(facts, say),
  };
}
