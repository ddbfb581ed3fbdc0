/** The memory allocator's work. */
import type { Finding } from '../../../../ts-frontend/src/model/index.js';
import { finding, s, savesNs, setup, work } from './base.js';

export const allocations: [string, Finding][] = [
  [
    'the allocator',
    finding(work, {
      form: 'allocation',
      callers: [
        { entity: work, ns: 0.2 * s },
        { entity: setup, ns: 0.1 * s },
      ],
      procedures: 12,
      called: [],
      kernel: null,
      mostNs: savesNs,
    }),
  ],
  [
    'the allocator, with memory that it gives back',
    finding(work, {
      form: 'allocation',
      callers: [{ entity: work, ns: 0.2 * s }],
      procedures: 1,
      called: [setup],
      kernel: { ns: savesNs / 2, again: 0.9 },
      mostNs: savesNs,
    }),
  ],
];
