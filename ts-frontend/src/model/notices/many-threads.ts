/** Notice about more runnable threads than CPUs, where that alone costs no elapsed time. Pure. */
import type { FindingContext } from '../evidence/context.js';
import { costOfOversubscription, oversubscriptionOf } from '../evidence/threads/oversubscription.js';
import type { ManyThreadsNotice } from '../result/notices.js';

export function manyThreads(context: FindingContext): ManyThreadsNotice[] {
  const { model } = context;
  if (model.head.publisher !== 'pthread') return []; // threads of the package are meant to be many
  const its = oversubscriptionOf(context);
  if (costOfOversubscription(context, its) !== 'nothing') return [];
  return [{ form: 'many-threads', ns: its.ns, runnable: its.runnable, cpus: model.processors }];
}
