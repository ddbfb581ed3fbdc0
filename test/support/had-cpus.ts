/** Whether a recorded program had the CPUs, so that what it did with them can be judged. */
import type { ExecutionContext } from 'ava';
import type { Model } from '../../ts-frontend/src/model/index.js';
import { skip } from './capabilities.js';

/** Nobody else took the CPUs: who gives its own away has it back at once. */
export const hadCpus = ({ cpuWait }: Model): boolean => cpuWait.waitNs < 0.2 * cpuWait.runNs;
/** Skips the rest of a test of what other programs change. Returns whether it does. */
export function skipsWithoutCpus(t: ExecutionContext, model: Model): boolean {
  if (!hadCpus(model)) skip(t, 'other programs had the CPUs');
  return !hadCpus(model);
}
