/** Sentences for processor time that the kernel spends on behalf of the program. */
import type { Finding, KernelWorkFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';
import { waysToCopyLess, waysToKeepMemory } from '../wording/remedies.js';

const what: Record<KernelWorkFacts['work'], string> = {
  memory: 'giving memory to the program and taking it back (page faults, mapping and unmapping)',
  read: 'reading',
  write: 'writing',
  flush: 'writing changes to the disk at once',
  yields: 'giving up the CPU between pieces of work (sched_yield)',
  calls: 'executing system calls',
};

function remedyOf(
  { work, again, allocator, mapping, calls, both, replies, wakes, leastNs, savesNs }: KernelWorkFacts,
  { time, model }: Phrases,
): string {
  const isLittle = leastNs < 0.01 * model.elapsedNs;
  const least = isLittle ? 'next to nothing' : time(leastNs);
  const between =
    `that saves ${isLittle ? 'up to' : `${least} to`} ${time(savesNs)}, depending on the caches, which the kernel ` +
    'fills when it clears memory (quartz run --try measures how much)';
  if (wakes !== null)
    return (
      'So few bytes, for which threads sleep, are no data: by an eventfd or a pipe, one thread notifies another that ' +
      'there is something to do, and a buffer gathers nothing. Let a thread hand on more each time (several ' +
      'messages, or a wake-up only if the other one has nothing left), or let one thread do the work of both: ' +
      (leastNs < 0.95 * savesNs ? `that saves ${time(leastNs)} to ${time(savesNs)}.` : `that saves ${time(savesNs)}.`)
    );
  if (replies)
    return (
      'There are about as many reads as writes, on connections: if each answers a request that the other side waits ' +
      'for, a buffer gathers nothing. Let it send several requests at a time (pipelining), or put more into each: ' +
      `half as many would save ${time(leastNs)}, a tenth of them ${time(savesNs)}.`
    );
  if (work === 'read' || work === 'write') {
    if (!calls || calls.bytesEach >= 4096)
      return `Transfer less data, or use fewer calls; that could save up to ${time(savesNs)}.`;
    const what = both !== null ? 'Read and write' : work === 'read' ? 'Read' : 'Write';
    const more =
      time(savesNs) === least
        ? ''
        : `, or up to ${time(savesNs)} if the rest of the work there is also done only once per call`;
    return (
      `${what} more per call (a buffer${both !== null ? '' : `, ${work}v`}): 4,096 bytes in each call would save ` +
      `${least}${more}.`
    );
  }
  if (work === 'flush')
    return (
      'Do it less often, for more changes each time (one transaction for many of them), or leave it to the kernel ' +
      `where the last changes may be lost if the machine fails; ten times less often would save ${time(leastNs)}` +
      (time(savesNs) === time(leastNs) ? '.' : `, or up to ${time(savesNs)} with the time that threads sleep there.`)
    );
  if (work === 'yields')
    return (
      'Leave these calls out, or make fewer: a thread that gives up its CPU while it has work lets all others run ' +
      `first, those of other programs as well. Without them the run would take ${time(savesNs)} less, and less still ` +
      'where more threads than CPUs can run.'
    );
  if (work === 'calls')
    return (
      'Make fewer system calls, with more in each (several messages, requests or items at a time): half as many ' +
      `would save ${time(leastNs)}, a tenth of them ${time(savesNs)}.`
    );
  if (allocator && (again ?? 0) >= 0.5)
    return (
      `Keep memory instead of giving it back to the kernel at each free: try ${waysToKeepMemory}, ` +
      `or reuse buffers; ${between}.`
    );
  if ((again ?? 0) >= 0.5 && mapping > 0)
    return `Keep mapped memory and use it again instead of unmapping it; ${between}.`;
  return (
    'Touch less memory, or use larger pages: MADV_HUGEPAGE or, for memory from malloc, ' +
    'GLIBC_TUNABLES=glibc.malloc.hugetlb=1 in the environment ' +
    `(glibc 2.35 or later); that could save up to ${time(savesNs)}.`
  );
}

const callsText = ({ count: times, bytesEach }: { count: number; bytesEach: number }, what: string): string =>
  `${counted(count(times), `${what} call`)} of ${count(bytesEach)} bytes each on average`;

/** Memory that is first touched by a copy: the copy is the cause. */
function copies({ entity, costNs, processorUse }: Finding, facts: KernelWorkFacts, say: Phrases): Sentences {
  const { called, faults, again, copyingNs, keptNs } = facts;
  const through = called === null ? '' : ` (${say.name(called)})`;
  const number = faults === null ? '' : ` The program had ${counted(count(faults), 'page fault')}.`;
  return {
    text:
      `${say.title(entity)} copies memory${through}: that takes ${say.costs(costNs)}, including the page faults of ` +
      `the memory that it copies to; during this time, ${say.processorUse(processorUse)}.${number}`,
    remedy:
      `Copy less: ${waysToCopyLess}; that could save up to ` +
      `${say.time(copyingNs ?? costNs)}, and allocating as well.` +
      (keptNs === null
        ? ''
        : ` Or keep the memory, for at least ${say.share(again ?? 0)} of the page faults were for memory that the ` +
          `program had used before: ${waysToKeepMemory}; that saves up to ${say.time(keptNs)}.`),
  };
}

function takesText({ work, both, wakes }: KernelWorkFacts): string {
  if (wakes !== null) return 'Threads that wake each other (by reading and writing, and waiting for it) cost';
  return `In the kernel, ${both === null ? `${what[work]} takes` : 'reading and writing take'}`;
}

export function kernelWork(finding: Finding, facts: KernelWorkFacts, say: Phrases): Sentences {
  if (facts.copyingNs !== null) return copies(finding, facts, say);
  const { title, name, costs, processorUse, share } = say;
  const { work, called, faults, again, calls, both, takes, wakes, through: isThrough } = facts;
  const by =
    finding.entity === 0
      ? ''
      : takes
        ? `, for memory mostly allocated and released by ${title(finding.entity)}`
        : `, most of it for ${title(finding.entity)}`;
  const through = called === null ? '' : `, through ${name(called)}`;
  const also = both === null ? '' : `, and ${callsText(both, work === 'read' ? 'write' : 'read')}`;
  const slept = wakes === null ? '' : `; threads went to sleep ${counted(count(wakes), 'time')}`;
  const number =
    faults !== null
      ? ' The program had ' +
        `${counted(count(faults), 'page fault')}${
          again !== null && again >= 0.05
            ? `, at least ${share(again)} of them for memory that the program had used before`
            : ''
        }.`
      : calls
        ? ` The program made ${callsText(calls, work)}${also}${slept}.`
        : isThrough
          ? ' What it writes to is opened with O_SYNC or O_DSYNC, so that each write is a flush.'
          : '';
  if (facts.held !== null)
    return {
      text:
        `${what.flush[0]?.toUpperCase()}${what.flush.slice(1)} costs ${costs(finding.costNs)}${by}${through}: in the ` +
        `kernel it takes ${say.time(facts.held.kernelNs)}; for the rest, threads wait for ${name(facts.held.lock)} ` +
        `while its holder sleeps there, or waits for a CPU after that, and nothing else runs.${number}`,
      remedy: remedyOf(facts, say),
    };
  return {
    text:
      `${takesText(facts)} ` +
      `${costs(finding.costNs)}${by}${through}; during this time, ` +
      `${processorUse(finding.processorUse)}.${number}`,
    remedy: remedyOf(facts, say),
  };
}
