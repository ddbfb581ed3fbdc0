/** The finding about code that runs alone (docs/reference/findings.md, "Code"). Pure. */
import { f64, item, u16, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { rowsOfKey } from '../profile/row-index.js';
import { isBusy } from '../metrics/sums.js';
import { idleSiblings } from '../evidence/threads/idle-siblings.js';
import { hotLoop } from '../evidence/code/hot-loop.js';
import type { Contexts } from '../evidence/code/loss-contexts.js';
import type { FindingContext } from '../evidence/context.js';
import { aliveAtOnce, successionOf, type Succession } from '../evidence/threads/alive-at-once.js';
import { findingOf } from '../evidence/context.js';
import { repeatedWork } from '../evidence/code/repeated-work.js';
import { mainThread } from '../evidence/threads/critical-threads.js';
import type { SerialFacts } from '../result/facts.js';
import type { Finding } from '../result/types.js';
import { savedWithoutTeam } from './openmp.js';
import { callersOf, largestParts, processorUse, waitingAt, type Candidate } from './candidate.js';

/** The least number of threads of which it is worth saying what each of them does again. */
const leastAgain = 3;

/**
 * `worker`: the only thread that has work, 0 if others have some too; `oneAtATime`: several threads ran the code, one
 * at a time; `calls`: see `parts` below; `succession`: the threads that live one after the other, if they are known.
 */
export function serial(
  findingContext: FindingContext,
  contexts: Contexts,
  candidate: Candidate,
  {
    worker = 0,
    oneAtATime = false,
    calls = [] as readonly number[],
    succession: inTurn = undefined as Succession | undefined,
  } = {},
): Finding {
  const { model } = findingContext;
  const { id, stats, waited, context } = candidate;
  // for an entity's own code: the run-time library procedures that it calls
  const parts = calls.length > 0 ? calls : largestParts(findingContext, candidate);
  const itself = context.self && id !== 0 && item(model.entities, id).nptNs > 1.05 * stats.npt;
  const succession = inTurn ?? successionOf(model, stats);
  return findingOf(model, {
    entity: id,
    kind: 'serial',
    change: 'create-parallelism',
    costNs: stats.cost,
    savingNs: stats.lost,
    processorUse: processorUse(model, stats),
    facts: {
      form: 'serial',
      worker:
        worker !== 0
          ? { thread: worker, share: findingContext.roles.workShare(worker, findingContext.background.threads) }
          : null,
      oneAtATime: oneAtATime ? candidate.threads : null,
      most: oneAtATime ? mostOfOne(findingContext, candidate) : null,
      succession: succession?.count ?? null,
      again: succession && succession.count >= leastAgain ? repeatedWork(findingContext, succession.threads) : null,
      siblings: candidate.alone ? idleSiblings(findingContext, candidate.thread) : null,
      callers: callersOf(findingContext, contexts, candidate),
      itself,
      waiting: waitingAt(waited),
      loop: id === 0 ? null : hotLoop(findingContext, id, costOf(findingContext, candidate)),
      parts: [...parts],
      spreadNs: stats.lost,
      smaller: [],
      allNs: stats.npt,
      inAll: null,
      pieces: [],
      only: false,
      backgroundNs: stats.background,
      teamNs: savedWithoutTeam(findingContext, candidate),
    },
    related: [...(worker !== 0 ? [worker] : []), ...parts, ...(waited ? [waited.object] : [])],
  });
}

/** A thread with at least this share of the work has most of it. */
const leastOfOne = 0.75;

/** The thread that does most of what several threads, alive at the same time, could share. */
function mostOfOne({ model }: FindingContext, { stats }: Candidate): SerialFacts['most'] {
  const { ids, time } = stats.threads;
  const main = mainThread(model)?.id ?? 0;
  if (ids.includes(main) || aliveAtOnce(model, ids) < 2) return null;
  const sum = time.reduce((all, one) => all + one, 0);
  const at = time.indexOf(Math.max(...time));
  const share = sum > 0 ? item(time, at) / sum : 0;
  const thread = item(ids, at);
  return share >= leastOfOne && item(model.entities, thread).instances <= 1 ? { thread, share } : null;
}

/** The cost of a candidate while processors are idle, by stack. */
function costOf({ model, tables }: FindingContext, { members }: Candidate): Map<number, number> {
  const { tuples } = model.raw;
  const costs = new Map<number, number>();
  for (const node of members)
    for (const k of rowsOfKey(tables.byStack, node)) {
      const busy = u16(tuples.busy, k);
      if (busy > 0 && busy < model.processors && isBusy(u8(tuples.state, k)))
        addTo(costs, node, f64(tables.weights, k) / busy);
    }
  return costs;
}
