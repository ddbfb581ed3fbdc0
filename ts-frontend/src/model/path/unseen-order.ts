/**
 * Synchronization that Quartz does not see, so that it orders no strands (docs/reference/path.md, "Limits"): where
 * there is much of it, the span is too short. Pure.
 */
import type { Entity, Model } from '../result/types.js';

export interface UnseenOrder {
  waitNs: number; // thread time of waiting for what the pthread layer does not see (0 in programs of the package)
  entity: number; // most of it; 0: there is none
  regions: boolean; // threads execute parallel regions of LLVM's OpenMP, which did not report them: they order nothing
}

/** The share of elapsed time from which on such waits make the span uncertain. */
const much = 0.05;

/** Ends of OpenMP's regions, barriers in them, and waits for tasks are seen. */
const isSeen = ({ origin, libraryWait }: Entity): boolean =>
  libraryWait === 'region-end' ||
  libraryWait === 'tasks' ||
  (libraryWait === 'barrier' && origin === 'runtime') ||
  (libraryWait !== 'lock' && origin === 'openmp');

export function unseenOrderOf(model: Model): UnseenOrder {
  const unseen: UnseenOrder = { waitNs: 0, entity: 0, regions: false };
  if (model.raw.head.publisher !== 'pthread') return unseen;
  unseen.regions = !model.raw.head.teamsReported && model.entities.some(({ style }) => style === 'llvm-team');
  let most = 0;
  for (const entity of model.entities) {
    const { id, rawKind, states, object } = entity;
    if ((rawKind !== 'futex' && rawKind !== 'loop') || entity.members.length > 0) continue;
    if (rawKind === 'futex' && object?.waitsCounted) continue;
    if (!unseen.regions && isSeen(entity)) continue;
    const ns = states.blocked.ns + states.spinning.ns;
    unseen.waitNs += ns;
    if (ns > most) [most, unseen.entity] = [ns, id];
  }
  return unseen;
}

/** Whether so much of the order of strands is unknown that the span may be much longer. */
export const isMuchUnseen = ({ waitNs, regions }: UnseenOrder, { elapsedNs }: Model): boolean =>
  regions || waitNs > much * elapsedNs;
