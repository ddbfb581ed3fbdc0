/**
 * How busy the processors were seen to be, where findings are made from an estimate of what the program would have
 * shown without other programs. Pure functions.
 */
import { u16 } from '../profile/columns.js';
import type { FindingContext } from './context.js';

/** If this share of the processors is busy on average, shorter waits save at most the remaining share. */
export const nearlyBusy = 0.85;

/** Processor time that was seen, in ns. */
export const busySeen = ({ tables: { measured } }: FindingContext): number =>
  measured.balance.ns.reduce((sum, ns, k) => sum + ns * u16(measured.balance.busy, k), 0);

/** Whether the processors were seen to be busy, and are not only by estimate. */
export const isSeenBusy = (context: FindingContext): boolean =>
  busySeen(context) >= nearlyBusy * context.tables.measured.head.processors * context.model.elapsedNs;
