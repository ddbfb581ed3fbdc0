/** What the kernel does for the program. */
import type { Finding, KernelWorkFacts } from '../../../../ts-frontend/src/model/index.js';
import { finding, savesNs, setup, work } from './base.js';

/** System calls of which nothing is known but what fewer of them save. */
export const calls: KernelWorkFacts = {
  form: 'kernel-work',
  work: 'calls',
  called: null,
  faults: null,
  again: null,
  allocator: false,
  mapping: 0,
  takes: false,
  calls: null,
  both: null,
  replies: false,
  wakes: null,
  through: false,
  copyingNs: null,
  keptNs: null,
  held: null,
  leastNs: savesNs,
  savesNs,
};
/** Page faults of memory that the allocator gave back and took again. */
export const memory: KernelWorkFacts = {
  ...calls,
  work: 'memory',
  called: setup,
  faults: 123_456,
  again: 0.9,
  allocator: true,
  mapping: 0.1,
  leastNs: savesNs / 4,
};
const small = { count: 1_000_000, bytesEach: 16 };

export const kernelWork: [string, Finding][] = [
  ['kernel: memory by the allocator', finding(work, { ...memory, takes: true })],
  [
    'kernel: first touches of memory',
    finding(work, { ...calls, work: 'memory', faults: 1, again: 0, leastNs: savesNs / 4 }),
  ],
  ['kernel: yields', finding(work, { ...calls, work: 'yields', called: setup })],
  ['kernel: flushes', finding(work, { ...calls, work: 'flush', called: setup })],
  ['kernel: writes that are flushes', finding(work, { ...calls, work: 'flush', called: setup, through: true })],
  ['kernel: small writes', finding(work, { ...calls, work: 'write', calls: small, leastNs: savesNs / 4 })],
  ['kernel: small reads and writes', finding(work, { ...calls, work: 'read', calls: small, both: small })],
  [
    'kernel: requests and replies',
    finding(work, { ...calls, work: 'read', calls: small, both: small, replies: true, leastNs: savesNs / 2 }),
  ],
  [
    'kernel: threads that wake each other',
    finding(work, {
      ...calls,
      work: 'read',
      calls: { ...small, bytesEach: 8 },
      both: { ...small, bytesEach: 1 },
      wakes: 876_543,
      leastNs: savesNs / 2,
    }),
  ],
];
