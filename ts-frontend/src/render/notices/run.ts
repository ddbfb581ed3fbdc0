/** Sentences for notices about the run itself: other programs, waiting for CPUs, sleep. */
import type {
  ChildProcessesNotice,
  LeftProcessesNotice,
  CloseFindingsNotice,
  CpuWaitNotice,
  ManyThreadsNotice,
  FewSnapshotsNotice,
  RelatedProcessesNotice,
  LockChurnNotice,
  NoProcedureNotice,
  NothingRanNotice,
  NothingStandsOutNotice,
  PaceNotice,
  UnexplainedNotice,
  WaitingLoopNotice,
  WaitingTeamsNotice,
  WaitsAgainNotice,
} from '../../model/index.js';
import { count, mean, percent } from '../format/units.js';
import { counted, type Phrases } from '../wording/phrases.js';
import type { NoticeSentences } from './sentences.js';

export const noSnapshot = (): NoticeSentences => ({
  reason: 'no snapshot was taken: the program ended too soon',
  remedy: 'let it run longer, or raise --rate',
});

export const fewSnapshots = (
  { snapshots, margin }: FewSnapshotsNotice,
  { model, time, share }: Phrases,
): NoticeSentences => ({
  reason:
    `only ${count(snapshots)} snapshots in ${time(model.elapsedNs)}: ` +
    `shares are known to ± ${share(margin)} at best`,
  // A higher rate does not help a sampler that gets no CPU in time.
  remedy: `let the program run longer${model.fewer?.reason === 'late' ? '' : ', or raise --rate'}`,
});

export function cpuWait(
  { who, waitNs, runNs, share: part, cause, ownNs, othersNs, cpus }: CpuWaitNotice,
  { time, share }: Phrases,
): NoticeSentences {
  const whose =
    cause === 'others'
      ? `other programs had the CPUs for at least ${time(othersNs)} of that`
      : `at most ${time(ownNs)} of that was because of each other`;
  const could = `${time(waitNs)} of the ${time(waitNs + runNs)} in which they could run`;
  return {
    reason: `${who} waited ${share(part)} of the time for a CPU (${could}): ${whose}`,
    remedy:
      cause === 'others'
        ? 'record the program again on a quieter machine'
        : who === 'threads'
          ? 'at times there are more runnable threads than CPUs; ' +
            'record the program again on a quieter machine to see whether the program itself is the cause'
          : `the program may use ${cpus} ${cpus === 1 ? 'CPU' : 'CPUs'}: use no more processors than that`,
  };
}

export const manyThreads = ({ ns, runnable, cpus }: ManyThreadsNotice, { model, share }: Phrases): NoticeSentences => ({
  reason:
    `for ${share(ns / model.elapsedNs)} of the time more threads could run than there are CPUs ` +
    `(${mean(runnable)} on average, on ${counted(count(cpus), 'CPU')}), which alone costs no elapsed time`,
  remedy: 'as many threads as CPUs would do the same work, with fewer context switches and less memory',
});

export const pace = (
  { thread, count: times, everyNs, everySdNs, lengthNs, lengthSdNs, setsTime }: PaceNotice,
  { name, time }: Phrases,
): NoticeSentences => ({
  reason:
    `${name(thread)} keeps a pace: ${count(times)} of its sleeps ended ${time(everyNs)} (± ${time(everySdNs)}) after ` +
    `the one before, however long they were (${time(lengthNs)} ± ${time(lengthSdNs)})` +
    (setsTime ? ', and that sets how long the run takes: no work that becomes less shortens it' : ''),
  remedy:
    'such a sleep costs nothing as long as the work between is done in time; quartz threads shows what it does then',
});

export const childProcesses = (
  { childrenNs, ownNs, profiled }: ChildProcessesNotice,
  { time }: Phrases,
): NoticeSentences => ({
  reason:
    `child processes used ${time(childrenNs)} of processor time, the program itself ${time(ownNs)}: ` +
    'what they did is not in this profile',
  remedy: profiled
    ? 'that is in their own profiles, whose names contain the process number'
    : '--tree makes one report on all of them, --children a profile of each',
});

export const leftProcesses = ({ started, ownNs }: LeftProcessesNotice, { time }: Phrases): NoticeSentences => ({
  reason:
    `the program itself used ${time(ownNs)} of processor time, and started ${count(started)} ` +
    `${started === 1 ? 'process' : 'processes'}, whose work is not in this profile`,
  remedy: 'if one goes on in the background (a daemon), run it in the foreground, or use quartz attach PID',
});

export function closeFindings(notice: CloseFindingsNotice, { time }: Phrases): NoticeSentences {
  const { other, firstNs, secondNs, code } = notice;
  const counts = code ? ', as counted for their order' : '';
  return {
    reason:
      `findings 1 and ${other + 1} are close to each other (${time(firstNs)} and ${time(secondNs)}${counts}): which ` +
      'one comes first may change from run to run',
    remedy: 'look at both; quartz run --runs 10 shows how often each comes first',
  };
}

export const relatedProcesses = ({ cpus, left, of }: RelatedProcessesNotice): NoticeSentences => ({
  reason:
    `other processes of the program, which have profiles of their own or did little, used ${mean(cpus)} ` +
    `${mean(cpus) === '1' ? 'CPU' : 'CPUs'} during the run` +
    (left < of ? `: findings count ${left} of ${of} ${of === 1 ? 'CPU' : 'CPUs'} as available to this one` : ''),
  remedy: '',
});

export function waitingLoop({ entity, ns, lock }: WaitingLoopNotice, { title, time }: Phrases): NoticeSentences {
  return {
    reason:
      `threads busy-wait for ${time(ns)} ${lock ? 'at' : 'in the'} ${title(entity)}: ` +
      'they wait there for other threads to write',
    remedy:
      `let them block (${lock ? 'a mutex' : 'a condition, a semaphore'}); ` +
      'Quartz counts such a loop as spinning from a few ms after it began',
  };
}

/** Where threads of these libraries wait, what limits their number, and settings that help. */
const ofTeams = {
  OpenMP: {
    where: 'at the ends of regions, at barriers or at locks',
    limit: 'OMP_NUM_THREADS',
    blocks: '; OMP_WAIT_POLICY=passive lets them block',
    binds: '; OMP_PROC_BIND=true keeps each on its CPU',
  },
  TBB: { where: 'they look for tasks', limit: 'tbb::global_control', blocks: '', binds: '' },
} as const;

export const waitingTeams = (
  { library, entities, ns, advice }: WaitingTeamsNotice,
  { time }: Phrases,
): NoticeSentences => ({
  reason:
    `threads busy-wait for ${time(ns)} in ${counted(count(entities.length), 'loop')} of ${library}'s library: ` +
    ofTeams[library].where +
    ', because other threads still have work, or because the pieces of work are so small that they take less time ' +
    'than the waiting',
  remedy:
    `divide the work more evenly${advice.pieces === 'larger' ? ', or into larger pieces' : ''}` +
    ofTeams[library].blocks +
    (advice.threads === 'fewer' ? `; use no more threads than CPUs (${ofTeams[library].limit})` : '') +
    ofTeams[library].binds,
});

export const lockChurn = (
  { lock, by, times, eachNs, totalNs }: LockChurnNotice,
  { title, time }: Phrases,
): NoticeSentences => ({
  reason:
    `${title(by)} takes and releases ${title(lock)} ${count(times)} times, with hardly any work in between: ` +
    `${time(eachNs)} of processor time each, ${time(totalNs)} in all`,
  remedy:
    'if it polls, let it wait (a condition, a semaphore); ' +
    'otherwise take the lock less often, and do more work each time',
});

export const waitsAgain = (
  { condition, count: again, waits }: WaitsAgainNotice,
  { title, share }: Phrases,
): NoticeSentences => ({
  reason:
    `at least ${count(again)} of ${count(waits)} waits at ${title(condition)} (${share(again / waits)}) were by ` +
    'threads that had just been woken there and waited again without releasing the lock: ' +
    'they were woken needlessly, or timed out',
  remedy: 'wake only threads that can continue: signal instead of broadcast, or one condition for each event',
});

export const noProcedure = ({ hooks }: NoProcedureNotice): NoticeSentences =>
  hooks
    ? {
        reason: 'no procedure was recorded: the program was compiled without hooks',
        remedy: 'compile it with the flags that `quartz cflags` prints',
      }
    : { reason: 'no procedure was seen at work', remedy: 'let the program run longer' };

export function nothingRan(
  { ns, asleep, waiting, calls }: NothingRanNotice,
  { costs, eachAt }: Phrases,
): NoticeSentences {
  const all = [...(waiting.length > 0 ? [eachAt(waiting)] : []), ...calls.map(inCall)].join(', ');
  const rest = asleep ? ': threads slept' : all === '' ? '' : `; waiting threads on average: ${all}`;
  return {
    reason: `nothing ran for ${costs(ns)}${rest}`,
    remedy: asleep ? 'if that is not intended, sleep less' : 'quartz threads shows what each thread waited for',
  };
}
const inCall = ({ name, threads }: NothingRanNotice['calls'][number]): string => `${mean(threads)} in ${name}`;

export const nothingStandsOut = (
  { leastNs, workShare }: NothingStandsOutNotice,
  { model, share }: Phrases,
): NoticeSentences => ({
  reason:
    `no single change would save ${percent(leastNs, model.elapsedNs)} of the elapsed time or more: ` +
    `${share(workShare)} of the effort is work`,
  remedy: 'the table of procedures shows where the time goes',
});

export const unexplained = ({ ns }: UnexplainedNotice, { model, time }: Phrases): NoticeSentences => ({
  reason:
    `idle or spinning processors cost ${time(ns)} (${percent(ns, model.elapsedNs)} of the elapsed time) that no ` +
    'finding explains: the cost is spread over many places, or its cause was not observed',
  remedy: 'quartz threads shows which threads waited, and quartz report --top 0 what ran while they waited',
});
