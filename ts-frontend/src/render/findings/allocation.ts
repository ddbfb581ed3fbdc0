/** Sentences for the memory allocator's work, summed over all procedures that use it. */
import type { AllocationFacts, Finding } from '../../model/index.js';
import { count } from '../format/units.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';

/** For glibc's allocator: it keeps memory instead of giving it back. */
const keepMemory =
  'MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_MMAP_THRESHOLD_=1000000000 in the environment (glibc; in the program: ' +
  'mallopt)';

export function allocation(
  finding: Finding,
  { callers, procedures, called, kernel, mostNs }: AllocationFacts,
  { title, name, costs, processorUse, time, share }: Phrases,
): Sentences {
  const through = called.length > 0 ? ` (${called.map(name).join(', ')})` : '';
  const by = callers.map(({ entity, ns }) => `${title(entity)} (${share(ns / finding.costNs)})`);
  const last = by.length > 1 ? `${by.slice(0, -1).join(', ')} and ${by.at(-1) ?? ''}` : (by[0] ?? '');
  const inKernel =
    kernel === null ? '' : ` ${time(kernel.ns)} of it is the kernel's work (page faults, mapping and unmapping).`;
  const keeps = kernel !== null && kernel.again >= 0.5 ? `keep memory instead of giving it back (${keepMemory}), ` : '';
  return {
    text:
      `Allocating and releasing memory${through} takes ${costs(finding.costNs)} in all, for ` +
      counted(count(procedures), 'procedure') +
      `${last === '' ? '' : `, most of it for ${last}`}, while ${processorUse(finding.processorUse)}.${inKernel}`,
    remedy:
      'Allocate less often: reuse memory, reserve the size of growing containers, allocate small objects together ' +
      `(an arena), pass values by reference or by moving them; ${keeps}or try another allocator (LD_PRELOAD). Every ` +
      `10 % less saves ${time(mostNs / 10)}, all of it ${time(mostNs)}; quartz run --try measures how much.`,
  };
}
