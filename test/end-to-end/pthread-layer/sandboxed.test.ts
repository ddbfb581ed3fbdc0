/**
 * Programs under filters of system calls (seccomp): each call that Quartz makes and the program does not is forbidden
 * in turn. The program runs as without Quartz, and there is a profile, or one line that says why there is none.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { needing } from '../../support/capabilities.js';
import { root } from '../../support/root.js';
import { sampler, start, temporaryFile, openModel } from '../../support/record.js';

const program = (name: string): string => join(root, 'build/test/end-to-end/pthread-layer', name);

/** System calls of x86-64 that publishing makes in the program. */
const inProgram = {
  poll: 7,
  rt_sigprocmask: 14,
  pread64: 17,
  access: 21,
  madvise: 28,
  nanosleep: 35,
  getpid: 39,
  socket: 41,
  connect: 42,
  recvfrom: 45,
  sendmsg: 46,
  bind: 49,
  listen: 50,
  getsockopt: 55,
  fcntl: 72,
  ftruncate: 77,
  fchmod: 91,
  getrlimit: 97,
  getrusage: 98,
  geteuid: 107,
  getegid: 108,
  getppid: 110,
  rt_sigpending: 127,
  rt_sigtimedwait: 128,
  gettid: 186,
  fgetxattr: 193,
  sched_getaffinity: 204,
  newfstatat: 262,
  fallocate: 285,
  accept4: 288,
  eventfd2: 290,
  prlimit64: 302,
  memfd_create: 319,
  membarrier: 324,
};
/** System calls of the sampler. */
const inSampler = {
  lseek: 8,
  ioctl: 16,
  pwrite64: 18,
  sched_yield: 24,
  mremap: 25,
  sendto: 44,
  recvmsg: 47,
  wait4: 61,
  kill: 62,
  uname: 63,
  flock: 73,
  rename: 82,
  unlink: 87,
  readlink: 89,
  sysinfo: 99,
  getpgrp: 111,
  fstatfs: 138,
  sched_getparam: 143,
  sched_setscheduler: 144,
  sched_getscheduler: 145,
  prctl: 157,
  sched_setaffinity: 203,
  getdents64: 217,
  clock_gettime: 228,
  clock_nanosleep: 230,
  waitid: 247,
  faccessat: 269,
  signalfd4: 289,
  pipe2: 293,
  perf_event_open: 298,
  process_vm_readv: 310,
  getrandom: 318,
  pidfd_open: 434,
  faccessat2: 439,
};
const forbid = (number: number, answer: string): string[] => [program('sandboxed'), String(number), answer];

interface Outcome {
  status: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}
const run = async ([name, ...args]: readonly string[]): Promise<Outcome> => start(name!, args).ended;

/** Under the filter without Quartz, then with it. */
async function compare(
  t: ExecutionContext,
  name: string,
  filter: readonly string[],
  around: 'program' | 'quartz',
): Promise<void> {
  const command = [program('process_environment'), 'at_fork'],
    plain = await run([...filter, ...command]);
  if (plain.signal !== null || plain.stderr !== '') {
    t.log(`${name}: the program itself needs it`);
    return;
  }
  const file = temporaryFile('profile.quartz'),
    quartz = [sampler, 'record', '-q', '-o', file, '--'];
  const recorded = await run(
    around === 'program' ? [...quartz, ...filter, ...command] : [...filter, ...quartz, ...command],
  );
  t.deepEqual(
    [recorded.status, recorded.signal, recorded.stdout],
    [plain.status, null, plain.stdout],
    `${name} forbidden to the ${around}: ${recorded.stderr}`,
  );
  if (existsSync(file)) openModel(file);
  // If the machine gives the sampler no CPU, the program has printed before that it had no answer in time.
  // There the child that it forks also lives long enough to be recorded.
  const said = recorded.stderr
    .replace(/^quartz: no answer from the sampler[^\n]*\n(?=quartz: )/, '')
    .replace(/^quartz: \S+ only started the program that did the work: [^\n]*\n/m, '');
  const line = /^quartz: [^\n]*(no profile[^\n]*seccomp|unsampled|not recorded)[^\n]*\n$/;
  if (said !== '' || !existsSync(file)) t.regex(said, line, name);
}

const known = needing('x86-64'); // whose numbers they are

for (const answer of ['kill', 'trap', 'refuse']) {
  known(`a filter around the program: ${answer}`, async (t) => {
    t.timeout(600_000);
    for (const [name, number] of Object.entries(inProgram)) await compare(t, name, forbid(number, answer), 'program');
  });
}
known('a filter around Quartz: kill', async (t) => {
  t.timeout(600_000);
  for (const [name, number] of Object.entries({ ...inProgram, ...inSampler }))
    await compare(t, name, forbid(number, 'kill'), 'quartz');
});
known('a filter that forbids nothing of it: there is a profile', async (t) => {
  const file = temporaryFile('profile.quartz');
  const { status, stderr } = await run([
    sampler,
    'record',
    '-q',
    '-o',
    file,
    '--',
    ...forbid(9999, 'kill'),
    program('process_environment'),
  ]);
  t.deepEqual([status, stderr], [0, '']);
  openModel(file);
});
