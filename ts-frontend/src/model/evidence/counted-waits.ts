/** How often threads waited for each other, by exact counts. Pure functions. */
import { addTo } from '../profile/maps.js';
import type { Model } from '../result/types.js';
import { shownId } from './context.js';

/**
 * The assumed maximum time until a woken thread runs on an idle CPU, in ns (measured in virtual machines: 30 to 50 us).
 */
export const wakingNs = 50_000;

/** Waits that end by themselves, that happen once, or in which no thread is woken. */
const notWoken = new Set(['sleep', 'join', 'loop', 'spinlock']);

/** The total, and the number by displayed entity. */
export function countedWaits(model: Model): { waits: number; byObject: Map<number, number> } {
  let waits = 0;
  const byObject = new Map<number, number>();
  for (const { id, object, members, rawKind } of model.entities) {
    if (!object?.waitsCounted || members.length > 0 || notWoken.has(rawKind)) continue;
    waits += object.contended;
    addTo(byObject, shownId(model, id), object.contended);
  }
  return { waits, byObject };
}
