/** Sentences for notices about the recording: losses, skipped snapshots, missing names. */
import type {
  CallPathsNotice,
  ForbiddenNotice,
  LossNotice,
  OutsideNotice,
  SkippedNotice,
  UnmeasuredNotice,
  UnnamedNotice,
} from '../../model/index.js';
import { count, percent } from '../format/units.js';
import type { NoticeSentences } from './sentences.js';

/** The text that follows the number of lost items; `N` is replaced by the total number. */
const lost: Record<LossNotice['what'], NoticeSentences> = {
  'torn-copies': {
    reason: 'of N copies of stacks changed while they were read',
    remedy: 'in these the innermost entry may be missing or repeated',
  },
  'invalid-records': {
    reason: 'records made no sense and were left out',
    remedy: 'if this repeats, check that program and Quartz are of one version',
  },
  'deep-calls': {
    reason: 'calls were deeper than the N entries of a profile stack',
    remedy: 'their time is charged to the deepest entry kept',
  },
  calls: {
    reason: 'calls were not counted, the table of calls was full',
    remedy: 'call counts are lower bounds',
  },
  threads: {
    reason: 'threads were not recorded, the table of threads was full',
    remedy: 'their time while they did not run is missing',
  },
  'shared-records': {
    reason: 'synchronization objects share a record with others of their place',
    remedy: 'their statistics are added up',
  },
  names: { reason: 'names did not fit', remedy: 'such objects are shown by the place that created them' },
  'runnable-detail': {
    reason: 'observations were kept with a coarser number of runnable threads',
    remedy: 'times are right; distributions of runnable threads are coarser',
  },
  'cut-stacks': {
    reason: 'stacks were cut short, the profile was full',
    remedy: 'their time is charged to the deepest entry kept',
  },
  'grouped-threads': { reason: 'threads are shown under their group', remedy: 'their times are added up' },
};

export function loss({ what, count: number, of }: LossNotice): NoticeSentences {
  const { reason, remedy } = lost[what];
  return { reason: `${count(number)} ${reason.replace('N', count(of ?? 0))}`, remedy };
}

const cutBecause: Record<CallPathsNotice['worst']['why'], string> = {
  'no-rule': 'there is no unwind information, and the instructions do not show the frame',
  wrong: 'what looked like a return address follows no call',
  memory: 'the stack could not be read',
  generated: 'code that the program made while it ran',
  later: 'the code had not been analysed yet',
  deep: 'the stack is deeper than is walked',
};

export function callPaths({ walks, cut, worst, steps, valid, refused }: CallPathsNotice): NoticeSentences {
  const name = worst.module === '' ? 'code in no file' : worst.module.slice(worst.module.lastIndexOf('/') + 1);
  const where = worst.why === 'generated' ? '' : ` in ${name}`;
  const short =
    `${percent(cut, walks)} of ${count(walks)} walks of stacks did not reach the thread's beginning ` +
    `(${count(worst.cut)}${where}: ${cutBecause[worst.why]})`;
  const found =
    `${count(steps)} callers were found without unwind information, by what the code does with the stack: ` +
    `${percent(valid, steps)} called that very procedure, the others may have` +
    (refused === 0 ? '' : `; ${count(refused)} more were refused, because no call leads there`);
  const parts = [...(cut > 0 ? [short] : []), ...(steps > 0 ? [found] : [])];
  return {
    reason: parts.join('; '),
    remedy: cut > 0 ? 'what called them is missing from their paths, which begin with the thread' : '',
  };
}

export const skipped = ({ skipped: number, due }: SkippedNotice): NoticeSentences => ({
  reason: `${percent(number, due)} of the snapshots were skipped because the sampler ran late`,
  remedy: 'ask for a lower --rate, or keep a CPU free for the sampler with --cpu',
});

const costs: Record<UnmeasuredNotice['what'][number], string> = {
  hooks: 'hooks',
  locks: 'locks',
  'threads made': 'thread creation',
};
export const unmeasured = ({ what }: UnmeasuredNotice): NoticeSentences => ({
  reason:
    `the cost of ${new Intl.ListFormat('en-GB').format(what.map((one) => costs[one]))} ` +
    'could not be measured when the program started: ' +
    'the reported slowdown does not include it, and the times of short procedures do',
  remedy: 'record again',
});

const allow = 'allow it (sysctl kernel.perf_event_paranoid=2; in a container --cap-add PERFMON)';
const trace =
  'allow it (sysctl kernel.yama.ptrace_scope=0; in a container --cap-add SYS_PTRACE), or run quartz as root';
const means: Record<ForbiddenNotice['what'], NoticeSentences> = {
  samples: {
    reason:
      'procedures are seen only where threads wait: ' +
      'the kernel gives no samples of running threads (perf_event_open is forbidden here)',
    remedy: `${allow}, or compile with the flags that quartz cflags prints`,
  },
  'some-samples': {
    reason: 'the kernel gave no samples of some threads: their procedures are seen only where they wait',
    remedy: 'raise ulimit -l or sysctl kernel.perf_event_mlock_kb',
  },
  'rare-samples': {
    reason:
      'the kernel took fewer than half of the samples of running threads that were due: ' +
      'which procedures ran is uncertain',
    remedy: 'record again, with fewer other programs running',
  },
  'samples-beside-hooks': {
    reason:
      "threads that busy-wait in the program's own loops count as working, " +
      'since the kernel gives no samples of running threads (perf_event_open is forbidden here)',
    remedy: `${allow}, or mark such loops with QZ_SPIN_BEGIN`,
  },
  memory: {
    reason: "procedures are not seen where threads wait: the program's memory may not be read",
    remedy: 'record as the user who runs it; in a container --cap-add SYS_PTRACE',
  },
  calls: {
    reason:
      'what sleeping threads wait for is not known where the pthread layer does not see it: ' +
      '/proc/PID/task/TID/syscall may not be read',
    remedy: 'record as the user who runs the program, or as root',
  },
  'memory-outside': {
    reason: "neither procedures that wait nor holders of locks are seen: the program's memory may not be read",
    remedy: trace,
  },
  'calls-outside': {
    reason:
      'which threads sleep is seen, but not where, nor what they wait for: ' +
      "the program's memory and /proc/PID/task/TID/syscall may not be read",
    remedy: trace,
  },
};
export const forbidden = ({ what }: ForbiddenNotice): NoticeSentences => means[what];

export const outside = ({ holders, attached }: OutsideNotice): NoticeSentences => ({
  reason:
    `${
      attached
        ? 'attached from outside, because the program was started without Quartz'
        : 'watched from outside, because nothing can be put into the program (it is statically linked, say)'
    }: waits are sampled, nothing is counted, ` +
    `and ${holders ? 'who holds a mutex is read from its memory' : 'who holds a lock is not known'}`,
  remedy: attached
    ? 'quartz run shows every lock, with exact counts'
    : 'link it dynamically: quartz run then shows every lock, with exact counts',
});

export const noHooks = (): NoticeSentences => ({
  reason: 'no procedure but the start routines of threads was seen: the program has no hooks',
  remedy: 'compile it with the flags that quartz cflags prints',
});

export const unnamed = ({ share, missing, stripped, detail }: UnnamedNotice): NoticeSentences => ({
  reason:
    `${percent(share, 1)} of the work is in procedures ` +
    `without ${missing === 'places' ? 'file and line' : 'names'}: ${detail}`,
  remedy: stripped ? 'link without -s, and do not strip the binary that you profile' : '',
});
