/** Sentences for time spent on creating, scheduling and switching threads: the grain of the work is too fine. */
import { item } from '../../model/index.js';
import type {
  Entity,
  Finding,
  HandOverFacts,
  OpenMpFacts,
  PackageWorkFacts,
  ShortThreadsFacts,
  SmallThreadsFacts,
  WaitsAgainFacts,
  WakeUpFacts,
} from '../../model/index.js';
import { placeOf } from '../../model/index.js';
import { count, mean } from '../format/units.js';
import { ofAllocator, ofLibrary } from '../wording/library-locks.js';
import { shortenedText } from './lock.js';
import { continued, counted, type Phrases, type Sentences } from '../wording/phrases.js';

export function smallThreads(
  finding: Finding,
  { spawns, workNs, ready, savesNs }: SmallThreadsFacts,
  { title, costs, processorUse, time }: Phrases,
): Sentences {
  const many = counted(mean(ready), 'thread');
  return {
    text:
      `The threads that ${title(finding.entity)} creates are too small to be worth moving to another processor: ` +
      `${counted(count(spawns), 'thread')} ` +
      `with ${time(workNs)} of work each. That costs ${costs(finding.costNs)}: ${many} ` +
      `${many === '1 thread' ? 'was' : 'were'} ready, while ${processorUse(finding.processorUse)}.`,
    remedy:
      'Make the grain coarser: the idle processors could then take threads, which would save up to ' +
      `${time(savesNs)}.`,
  };
}

export function packageWork(
  finding: Finding,
  { events, savesNs, coarser }: PackageWorkFacts,
  { model, title, costs, processorUse, time }: Phrases,
): Sentences {
  const { kind } = item(model.entities, finding.entity);
  const was = events?.count === 1 ? 'was' : 'were';
  const happened = !events
    ? ''
    : events.what === 'threads'
      ? `; ${counted(count(events.count), 'thread')} ${was} created, with ${time(events.workNs)} of work each`
      : `; there ${was} ${events.count === 1 ? '1 switch' : `${count(events.count)} switches`} between threads, one ` +
        `per ${time(events.workNs)} of work`;
  const grain =
    kind === 'procedure' || kind === 'thread' || kind === 'join'
      ? 'Make the grain coarser: more work for each thread'
      : `Do more work for each use of ${title(finding.entity)}`;
  return {
    text:
      `Creating, scheduling and switching threads costs ${costs(finding.costNs)}, most of it for ` +
      `${title(finding.entity)}${happened}. During this time, ${processorUse(finding.processorUse)}.`,
    remedy: `${grain}; ${coarser} times as much would save ${time(savesNs)}.`,
  };
}

/** How often threads waited again at a condition, and what to do about it. */
const futileWaits = ({ condition, count: times, waits, together }: WaitsAgainFacts, say: Phrases): string => {
  const { title, share, time } = say;
  if (together !== null)
    return (
      ` At ${title(condition)} there are ${mean(together.mean)} threads on average that have been woken and have ` +
      `no CPU yet; for each wake-up, they do ${time(together.workNs)} of work: several are woken where one can go on.`
    );
  if (times === null) return '';
  const many = `${count(times)} of ${counted(count(waits), 'wait')} at ${title(condition)} (${share(times / waits)})`;
  return (
    ` At least ${many} were by threads that had just been woken there and waited again without releasing the lock: ` +
    'they were woken needlessly, or timed out.'
  );
};
const wakeFewer = 'Wake only threads that can continue: signal instead of broadcast, or one condition for each event';

export function wakeUps(
  finding: Finding,
  { waits, workNs, objects, again, wakingNs, leastNs, mostNs }: WakeUpFacts,
  say: Phrases,
): Sentences {
  const { model, title, costs, processorUse, time } = say;
  const back = again === null ? '' : futileWaits(again, say);
  return {
    text:
      `Threads wait and are woken very often: ${counted(count(waits), 'time')}, once per ${time(workNs)} of ` +
      `processor time, most often at ${objects.map(title).join(' and ')}. ` +
      `Waking them takes ${costs(wakingNs)}, while ${processorUse(finding.processorUse)}.${back}`,
    remedy:
      again !== null
        ? `${wakeFewer}; that would save ${between(time(leastNs), time(mostNs))}.`
        : `${waitLess(item(model.entities, finding.entity))}: that would save ` +
          between(time(leastNs), time(mostNs)) +
          `${time(leastNs) === time(mostNs) ? '' : ', the latter if no thread had to wait for another'}.`,
  };
}

export function handOvers(finding: Finding, facts: HandOverFacts, say: Phrases): Sentences {
  const { objects, takenIn: callers, waits, again, handingShare, leastNs, mostNs, aloneNs } = facts;
  const { title, takenIn, costs, processorUse, time, share } = say;
  const often =
    waits === null
      ? ''
      : `they had to wait ${counted(count(waits.count), 'time')}, once per ${time(waits.workNs)} of processor time; `;
  const moves =
    waits === null
      ? ', and more if the code inside waits for data from other CPUs'
      : time(leastNs) !== time(mostNs)
        ? ', the latter if the code inside mostly waits for data from other CPUs'
        : '';
  return {
    text:
      `Threads hand ${objects.map(title).join(' and ')}${takenIn(callers)} to each other all the time: ${often}` +
      `${share(handingShare)} of the processor time goes into waiting, waking and the lock itself. ` +
      `That costs ${costs(finding.costNs)}; on average ${processorUse(finding.processorUse)}.` +
      (again === null ? '' : futileWaits(again, say)),
    remedy:
      (again === null
        ? `${takeLess(facts, say)}. If no thread found it taken, that would save `
        : `${wakeFewer}. If no thread had to wait there, that would save `) +
      `${between(time(leastNs), time(mostNs))}${moves}.` +
      (aloneNs === null ? '' : ` Doing all the work in one thread would save ${time(aloneNs)}.`) +
      shortenedText(facts),
  };
}

const ofBarrier =
  'Let threads meet less often, with more work between two barriers (larger blocks, and barriers only where one ' +
  'thread needs what another one has done)';

/** What to change where threads wait for that and are woken too often. */
function waitLess({ kind, rawKind, libraryWait }: Entity): string {
  if (kind === 'lock') return ofOwnLock;
  if (rawKind === 'barrier' || libraryWait === 'barrier') return ofBarrier;
  return rawKind === 'semaphore'
    ? `If it serves as a lock, take it less often, with more work each time. Otherwise ${continued(ofPassing)}`
    : ofPassing;
}

const ofPassing =
  'Pass on more at a time (larger pieces, a longer queue), let one thread do the work of both, or signal only if a ' +
  'thread waits';

/** How to change a lock that threads hand to each other: if it is held for long, doing less meanwhile helps most. */
function takeLess({ allocator, library, held }: HandOverFacts, say: Phrases): string {
  if (allocator) return ofAllocator;
  if (library) return ofLibrary(library, say);
  if (held === null) return ofOwnLock;
  const { name, time } = say;
  const long =
    held.taker === null
      ? `It is held for ${time(held.ns)} of processor time each time`
      : `${name(held.taker)} works for ${time(held.ns)} between two waits, perhaps while it has the lock`;
  return `${long}: do before or after it what needs no protection. Or ${continued(ofOwnLock)}`;
}

const ofOwnLock =
  'Share it less: give each thread or part its own lock and data, combined at the end, or do more work each time it ' +
  'is taken';

const between = (least: string, most: string): string => (least === most ? least : `${least} to ${most}`);

export function shortThreads(
  finding: Finding,
  { spawns, workNs, leastNs, savesNs, mostNs, coarser, kernelNs, locks, inlineNs }: ShortThreadsFacts,
  { model, costs, time, title }: Phrases,
): Sentences {
  const entity = item(model.entities, finding.entity);
  const place = placeOf(entity.file, entity.line);
  const text =
    `Threads are created for very little work: ${count(spawns)} of them, one per ${time(workNs)} of processor ` +
    `time, most of them to run ${entity.name}${place === '' ? '' : ` (${place})`}. ` +
    (kernelNs === null
      ? ''
      : `The kernel works for them for up to ${costs(kernelNs)} (creating and ending them, page faults of their ` +
        'stacks, their own system calls). ') +
    (locks.length === 0
      ? ''
      : 'When they begin and end, threads wait for a lock that the run-time takes then: ' +
        `${locks.map((one) => `${title(one.entity)}, ${time(one.costNs)}`).join('; ')}. `);
  const saved = mostNs > savesNs ? `${time(savesNs)} to ${time(mostNs)}` : `${time(savesNs)} or more`;
  if (inlineNs === null)
    return {
      text:
        `${text}Creating, starting and ending one takes ${time(leastNs)} or more` +
        (mostNs > savesNs
          ? `, plus cold caches, a new stack and waiting for a CPU. That costs up to ${costs(finding.costNs)}.`
          : `, which costs at least ${costs(finding.costNs)}.`),
      remedy:
        `Create fewer, with more work for each (larger pieces, or a pool of threads); ${coarser} times fewer ` +
        `would save ${saved}.`,
    };
  return {
    text:
      `${text}Creating them, and waiting until they have started and ended, costs ${costs(savesNs)} or more: ` +
      `everything else that the program executes takes at most ${time(inlineNs)}.`,
    remedy:
      'Call their procedure directly, one call after the other, or keep a few threads and give them larger pieces: ' +
      `that would save ${saved}.`,
  };
}

const openMpUses = {
  pieces: 'the pieces of work for threads are too small',
  exclusion: 'critical sections and locks are used very often',
  order: 'threads wait for their turn in an ordered region, which only one thread at a time executes',
} as const;

const ofPieces = {
  OpenMP: 'no tasks below a minimum size, larger chunks of loops, one parallel region instead of several',
  TBB: 'a larger grain size, auto_partitioner instead of simple_partitioner, no tasks below a minimum size',
} as const;

export function openMp(
  finding: Finding,
  { library, calls, use, waitsNs, savesNs, mostNs, coarser }: OpenMpFacts,
  { title, name, costs, processorUse, time }: Phrases,
): Sentences {
  const saved = between(time(savesNs), time(mostNs));
  const remedies = {
    pieces: `Make the pieces larger: ${ofPieces[library]}; ${coarser} times larger would save ${saved}.`,
    exclusion:
      'Use critical sections less often (a reduction, or a partial sum for each thread, added up at the end); ' +
      `${coarser} times less often would save ${saved}, and more if the code inside waits for data ` +
      'from other CPUs.',
    order:
      'Do less in the ordered region: compute before it, and leave in it only what needs the order (output, a sum); ' +
      `or store the results, and process them in order after the loop: that could save up to ${time(mostNs)}.`,
  };
  return {
    text:
      `${library}'s library ${waitsNs > 0 ? 'and waiting for its locks take' : 'itself takes'} ` +
      `${costs(finding.costNs)}${calls.length > 0 ? `, in ${calls.map(name).join(', ')}` : ''}, most of it for ` +
      `${title(finding.entity)}: ${openMpUses[use]}. During this time, ${processorUse(finding.processorUse)}.`,
    remedy: remedies[use],
  };
}
