/** Sentences for notices about the recording: losses, skipped snapshots, missing names. */
import { baseName } from '../../model/index.js';
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

/** The text that follows the number of lost items; some say of how many. */
const lost: Record<LossNotice['what'], { reason: string | ((of: string) => string); remedy: string }> = {
  'torn-copies': {
    reason: (of) => `of ${of} copies of stacks changed while they were read`,
    remedy: 'the innermost entry of these may be missing or repeated',
  },
  'invalid-records': {
    reason: 'records were invalid and were left out',
    remedy: 'if this happens again, check that the program was built with this version of Quartz',
  },
  'deep-calls': {
    reason: (most) => `calls were deeper than the ${most} entries of a profile stack`,
    remedy: 'their time is charged to the deepest entry kept',
  },
  calls: {
    reason: 'calls were not counted, because the table of calls was full',
    remedy: 'call counts are lower bounds',
  },
  threads: {
    reason: 'threads were not recorded, because the table of threads was full',
    remedy: 'the time for which they did not run is missing',
  },
  'shared-records': {
    reason: 'synchronization objects share a record with others that were created at the same place',
    remedy: 'their statistics are added up',
  },
  names: {
    reason: 'names of objects were not recorded, because the space for names was full',
    remedy: 'these objects are named after the place that created them',
  },
  'runnable-detail': {
    reason: 'observations were kept with a coarser number of runnable threads',
    remedy: 'times are correct; distributions of runnable threads are coarser',
  },
  'cut-stacks': {
    reason: 'stacks were cut short, because the profile was full',
    remedy: 'their time is charged to the deepest entry kept',
  },
  'grouped-threads': { reason: 'threads are shown only as groups', remedy: 'their times are added up' },
};

export function loss({ what, count: number, of }: LossNotice): NoticeSentences {
  const { reason, remedy } = lost[what];
  return { reason: `${count(number)} ${typeof reason === 'string' ? reason : reason(count(of ?? 0))}`, remedy };
}

const cutBecause: Record<CallPathsNotice['worst']['why'], string> = {
  'no-rule': 'there is no unwind information, and the instructions do not show the frame',
  wrong: 'an apparent return address follows no call instruction',
  memory: 'the stack could not be read',
  generated: 'code that the program generated while it ran',
  later: 'there was no time yet to analyse the code, or to walk the stack',
  deep: 'the stack is deeper than Quartz walks',
};

export function callPaths({ walks, cut, worst, steps, valid, refused }: CallPathsNotice): NoticeSentences {
  const name = worst.module === '' ? 'code that is in no file' : baseName(worst.module);
  const where = worst.why === 'generated' ? '' : ` in ${name}`;
  const short =
    `${percent(cut, walks)} of ${count(walks)} stack walks did not reach the thread's beginning ` +
    `(${count(worst.cut)}${where}: ${cutBecause[worst.why]})`;
  const found =
    `${count(steps)} callers were found without unwind information, from machine code or the frame pointer: for ` +
    `${percent(valid, steps)} of them, the return address follows a call of the callee, for the others a call that ` +
    'may lead to it' +
    (refused === 0 ? '' : `; ${count(refused)} more were rejected, because their return address follows no such call`);
  const parts = [...(cut > 0 ? [short] : []), ...(steps > 0 ? [found] : [])];
  return {
    reason: parts.join('; '),
    remedy: cut > 0 ? 'the outermost callers are missing from these paths' : '',
  };
}

export const skipped = ({ skipped: number, due }: SkippedNotice): NoticeSentences => ({
  reason: `${percent(number, due)} of the snapshots were skipped because the sampler ran late`,
  remedy: 'record with a lower --rate, or reserve a CPU for the sampler with --cpu',
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
      'the kernel provides no samples of running threads (perf_event_open is forbidden here)',
    remedy: `${allow}, or compile with the flags that quartz cflags prints`,
  },
  'signal-samples': {
    reason:
      'the kernel provides no samples of running threads (perf_event_open is forbidden here): ' +
      'they take samples of themselves, by signals, at most one at each tick of the kernel',
    remedy: `for more of them, ${allow}`,
  },
  'some-samples': {
    reason: 'the kernel provided no samples of some threads: their procedures are seen only where they wait',
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
      'because the kernel provides no samples of running threads (perf_event_open is forbidden here)',
    remedy: `${allow}, or mark such loops with QZ_SPIN_BEGIN`,
  },
  memory: {
    reason: "procedures are not seen where threads wait: Quartz is not permitted to read the program's memory",
    remedy: 'record as the user who runs the program; in a container --cap-add SYS_PTRACE',
  },
  calls: {
    reason:
      'what sleeping threads wait for is not known where the pthread layer does not see it: ' +
      'Quartz is not permitted to read /proc/PID/task/TID/syscall',
    remedy: 'record as the user who runs the program, or as root',
  },
  'memory-outside': {
    reason:
      'neither procedures that wait nor holders of locks are seen: ' +
      "Quartz is not permitted to read the program's memory",
    remedy: trace,
  },
  'calls-outside': {
    reason:
      'which threads sleep is seen, but not where, nor what they wait for: ' +
      "Quartz is not permitted to read the program's memory and /proc/PID/task/TID/syscall",
    remedy: trace,
  },
};
export const forbidden = ({ what }: ForbiddenNotice): NoticeSentences => means[what];

export const outside = ({ holders, attached }: OutsideNotice): NoticeSentences => ({
  reason:
    `${
      attached
        ? 'watched from outside, because the program was started without Quartz'
        : 'watched from outside, because no library can be loaded into the program (it may be statically linked)'
    }: waits are sampled, nothing is counted, ` +
    `and ${holders ? 'the holder of a mutex is read from its memory' : 'the holders of locks are not known'}`,
  remedy: attached
    ? 'quartz run shows every lock, with exact counts'
    : 'link it dynamically: quartz run then shows every lock, with exact counts',
});

export const noHooks = (): NoticeSentences => ({
  reason: 'no procedures other than the start routines of threads were seen: the program has no hooks',
  remedy: 'compile it with the flags that quartz cflags prints',
});

export const unnamed = ({ share, missing, stripped, detail, module }: UnnamedNotice): NoticeSentences => ({
  reason:
    `${percent(share, 1)} of the work is in procedures without ${missing === 'places' ? 'file and line' : 'names'}` +
    `${module === '' ? '' : `, most of it in ${baseName(module)}`}: ${detail}`,
  remedy: !stripped
    ? ''
    : /\.so(\.|$)/.test(module)
      ? 'install the debug symbols of that library, or link it without -s'
      : 'link without -s, and do not strip the binary',
});
