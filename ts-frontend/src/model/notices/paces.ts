/** Notices about threads whose sleeps keep a pace, and whether that sets how long the run takes. Pure. */
import type { FindingContext } from '../evidence/context.js';
import { pacesOf, setByPace } from '../evidence/threads/sleep-pace.js';
import type { PaceNotice } from '../result/notices.js';

/** The least share of the run that the intervals of a pace cover. */
const leastPaced = 0.2;

export function paces(context: FindingContext): PaceNotice[] {
  const { model } = context;
  const setsTime = setByPace(context);
  return [...pacesOf(model.raw)]
    .filter(([, { count, everyNs }]) => count * everyNs >= leastPaced * model.elapsedNs)
    .map(([thread, pace]) => ({ form: 'pace' as const, thread, ...pace, setsTime: setsTime === thread }));
}
