/** Sentences for contended locks, and for other objects that threads spin on. */
import { item } from '../../model/index.js';
import type { Finding, KeptWaitingFacts, LockFacts, SpinningFacts } from '../../model/index.js';
import { ofAllocator, ofLibrary } from '../wording/library-locks.js';
import { count, mean } from '../format/units.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';

export function lock(finding: Finding, facts: LockFacts, say: Phrases): Sentences {
  const { title, time, share } = say;
  const cause = title(finding.entity);
  const others = facts.others.map(title);
  const isCause = facts.waitedFor === finding.entity;
  const because =
    isCause && others.length === 0
      ? ''
      : isCause
        ? `Other threads wait for ${others.join(' and ')}, whose holders mostly hold ${cause} too, or wait for it. `
        : `The cause is ${cause}: holders of ${[title(facts.waitedFor), ...others].join(' or ')} mostly hold ` +
          `${cause} too, or wait for it. `;
  const woken =
    facts.woken === null
      ? ''
      : `Of these, ${mean(facts.woken)} had just been woken: they had no CPU yet, or another thread had taken the ` +
        'lock before them. ';
  const held =
    facts.holder !== null
      ? `; it was mostly held in ${say.name(facts.holder)}${callsText(facts, say)}${inIoText(facts, say)}`
      : facts.taker !== null && facts.inIo !== null
        ? `; apart from this wait, ${say.name(facts.taker)} is${inIoText(facts, say).slice(1)}`
        : '';
  const unserved =
    facts.unserved === null
      ? ''
      : `; its holder waited for a CPU ${share(facts.unserved)} of the time, since there were more runnable ` +
        'threads than CPUs';
  if (facts.keptWaiting) return kept(finding, facts, facts.keptWaiting, say, `${held}${unserved}`);
  if (facts.exclusion && isCause) return exclusion(finding, facts, facts.exclusion.threads, say);
  return {
    text:
      `Threads ${facts.spins ? 'spin' : 'wait'} for ${title(facts.waitedFor)}${say.takenIn(facts.takenIn)} ` +
      `for ${say.costs(finding.costNs)}: ` +
      `${mean(facts.waiters)} of them on average, ` +
      `while ${say.processorUse(finding.processorUse)}. ` +
      `${woken}${because}${usesText(facts, because === '' ? '' : cause, time)}${held}${unserved}.`,
    remedy: facts.readyInstead
      ? 'Let its waiters block instead of spinning: other threads were ready to run; that could save ' +
        `${time(facts.savesNs)}.`
      : `${shareText(facts, cause, say)} If its waiters ran instead, that could save up to ${time(facts.savesNs)}.` +
        inAllText(finding, facts, say) +
        shortenedText(facts),
  };
}

/** `holders`: what is known of them. */
function kept(
  finding: Finding,
  facts: LockFacts,
  { thread, procedure, mostNs, readWrite }: KeptWaitingFacts,
  say: Phrases,
  holders: string,
): Sentences {
  const { title, name, time } = say;
  return {
    text:
      `${title(thread)} waits for ${title(finding.entity)}, in ${name(procedure)}, for ${say.costs(finding.costNs)}, ` +
      'while other threads, which work for as long as it does, use the processors. ' +
      `${usesText(facts, '', time)}${holders}.`,
    remedy:
      `${favourText(readWrite, facts)}${shareText(facts, title(finding.entity), say)} If the others work until ` +
      `they are asked to end, the run could take up to ${time(mostNs)} less; if it ends when all work is done, ` +
      `only what their waiting costs goes (up to ${time(facts.savesNs)}).`,
  };
}

/** Who waits for a read-write lock while others read may wait for long; a holder may lack a CPU. */
function favourText(readWrite: boolean, { unserved }: LockFacts): string {
  if (readWrite)
    return (
      'Read-write locks of the C library let further readers in while a writer waits: ' +
      'PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP (pthread_rwlockattr_setkind_np) makes them wait for it. '
    );
  return unserved === null
    ? ''
    : 'Whoever holds it needs a CPU: do not hold it in a thread of lower priority (PTHREAD_PRIO_INHERIT lends it ' +
        'that of the waiting thread). ';
}

/** How threads wait less for it: for locks of libraries, of which the program knows nothing, by what uses them. */
function shareText(facts: LockFacts, cause: string, say: Phrases): string {
  if (facts.allocator) return `${ofAllocator}.`;
  if (facts.library) return `${ofLibrary(facts.library, say)}.`;
  return `${readText(facts, say)}${lessText(facts, cause, say)}`;
}

/** Of a read-write lock: who only reads need not wait for others who read. */
const readText = ({ writer }: LockFacts, { name }: Phrases): string =>
  writer === null
    ? ''
    : `${name(writer)} takes it for writing, since it waits while others hold it there: where it only reads, let it ` +
      'take it for reading (std::shared_lock, pthread_rwlock_rdlock). ';

export const shortenedText = ({
  allocator,
  library,
  shortenedBy,
}: Pick<LockFacts, 'allocator' | 'library' | 'shortenedBy'>): string =>
  allocator || library || shortenedBy === null
    ? ''
    : ` Finding ${shortenedBy + 1} is about much of what is done while it is held.`;

/** Processor time per acquisition below which less of it can hardly help; above it, it is what others wait for. */
const shortNs = 1000,
  longNs = 10_000;

/** From this multiple of what the waiters would save on. */
const notablyMore = 1.25;
/** One thread at a time holds a mutex, so all that is done meanwhile is one chain of work. */
function inAllText(finding: Finding, facts: LockFacts, { model, time }: Phrases): string {
  const { heldEachNs, acquisitions, savesNs, mostlyInIo, library, allocator } = facts;
  const { rawKind, members } = item(model.entities, finding.entity);
  const isOne = rawKind === 'mutex' && members.length <= 1;
  if (!isOne || heldEachNs === null || heldEachNs < longNs || mostlyInIo || allocator || library !== null) return '';
  const allNs = Math.min(model.elapsedNs, heldEachNs * acquisitions);
  if (allNs < notablyMore * savesNs) return '';
  return ` What is done while it is held takes ${time(allNs)} in all: less work there saves up to all of that.`;
}

/** What to change, depending on whether the lock is held for long, or for a short time but often. */
function lessText(facts: LockFacts, cause: string, { time, name }: Phrases): string {
  const { heldEachNs, longest, mostlyInIo, acquisitions } = facts;
  if (mostlyInIo)
    return (
      `Reduce waiting for ${cause}: move input, output and sleep out of the critical section, hold it for less time, ` +
      'take it less often, or split what it protects.'
    );
  if (longest !== null && longest.eachNs >= longNs)
    return (
      `${name(longest.procedure)} holds it for ${time(longest.eachNs)} of processor time each time ` +
      `(${counted(count(longest.times), 'time')}), others for ${time(longest.othersEachNs)}: let it do before or ` +
      'after that what needs no protection, or release the lock and take it again between parts, or split what the ' +
      'lock protects.'
    );
  if (heldEachNs !== null && heldEachNs >= longNs)
    return (
      `It is held for ${time(heldEachNs)} of processor time each time: do before or after it what needs no ` +
      'protection, split what it protects, or use a read-write lock if most of its holders only read.'
    );
  if (heldEachNs !== null && heldEachNs > 0 && heldEachNs < shortNs)
    return (
      `It is held for only ${time(heldEachNs)} of processor time each time, but was taken ` +
      `${counted(count(acquisitions), 'time')}: ` +
      'take it less often (several items each time, or data of its own for each thread, combined at the end), ' +
      'or split what it protects.'
    );
  return (
    `Reduce waiting for ${cause}: ` +
    (facts.counted || facts.holder !== null || facts.taker !== null
      ? 'hold it for less time, take it less often, or split what it protects.'
      : 'call it less often, with more work per call, or from fewer threads at a time.')
  );
}

/** Example: ", which calls compress2" */
const callsText = ({ holderCalls }: LockFacts, { name }: Phrases): string =>
  holderCalls === null ? '' : `, which calls ${name(holderCalls)}`;

/** A lock that the program implements itself, with a flag and a condition, semaphore or futex. */
function exclusion(finding: Finding, facts: LockFacts, threads: number, say: Phrases): Sentences {
  const { title, time } = say;
  const runs =
    facts.holder === null
      ? ''
      : `; the code that runs during these waits is mostly ${say.name(facts.holder)}${callsText(facts, say)}`;
  const objects = [finding.entity, ...facts.also].map(title);
  const at = objects.length === 1 ? '' : ' at the first of them';
  const all =
    objects.length === 1 ? '' : ` (the same threads wait at ${objects.length === 2 ? 'both' : 'all of them'})`;
  const waits =
    facts.waitsCounted && facts.contended > 0
      ? `${counted(count(facts.contended), 'wait')}${at}, ${time(facts.waitMeanNs)} each`
      : 'It was observed from outside: waits are not counted';
  return {
    text:
      `${count(threads)} threads that do the same work run one at a time, each letting the next continue, as with a ` +
      `lock. For ${say.costs(finding.costNs)}, threads wait for ` +
      `${objects.join(objects.length === 2 ? ' and ' : ', ')}${all}, ` +
      `${mean(facts.waiters)} on average, while ${say.processorUse(finding.processorUse)}. ${waits}${runs}.`,
    remedy:
      'Let more of them run at a time: do less between waiting there and letting the next one continue, or split ' +
      "what is protected this way; with an interpreter's own lock, use processes instead of threads. If the waiters " +
      `ran instead, that could save up to ${time(facts.savesNs)}.`,
  };
}

/** `cause`: the title of the lock, if it is not the one that the text mentioned last. */
function usesText(
  { counted: isCounted, waitsCounted, acquisitions, contended, waitMeanNs, holder }: LockFacts,
  cause: string,
  time: Phrases['time'],
): string {
  if (!isCounted && waitsCounted)
    return (
      `Threads had to wait${cause === '' ? '' : ` for ${cause}`} ${counted(count(contended), 'time')}, ` +
      `${time(waitMeanNs)} each; how often it was free, and who held it, is not known`
    );
  if (!isCounted)
    return `It was observed from outside only: ${
      holder === null ? 'acquisitions and holders are not known' : 'acquisitions are not counted'
    }`;
  if (contended > 0)
    return (
      `${count(contended)} of ${counted(count(acquisitions), 'acquisition')}${cause === '' ? '' : ` of ${cause}`} ` +
      `had to wait, ${time(waitMeanNs)} each`
    );
  return cause === ''
    ? `It was taken ${counted(count(acquisitions), 'time')}`
    : `${cause} was taken ${counted(count(acquisitions), 'time')}`;
}

/** Example: ", 96.0 % of the time in input, output or sleep (fdatasync)". */
function inIoText({ inIo }: LockFacts, { share, name }: Phrases): string {
  return inIo
    ? `, ${share(inIo.share)} of the time in input, output or sleep${inIo.call === null ? '' : ` (${name(inIo.call)})`}`
    : '';
}

export function spinning(
  finding: Finding,
  { savesNs }: SpinningFacts,
  { title, costs, processorUse, time }: Phrases,
): Sentences {
  return {
    text:
      `Threads spin at ${title(finding.entity)} for ${costs(finding.costNs)} although others are ready to ` +
      `run; ${processorUse(finding.processorUse)}.`,
    remedy: `Let its waiters block: the ready threads would get the processors; that could save ${time(savesNs)}.`,
  };
}
