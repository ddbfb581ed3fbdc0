/**
 * What threads wait for inside a library, which the sampler sees from outside alone (kind futex), and in loops: by
 * what the program called there, which the sampler decides (abi/origin.h). Pure.
 */
import { isLockKind } from '../profile/lock-kinds.js';
import type { Entity } from '../result/types.js';

export const isLock = (entity: Entity): boolean =>
  isLockKind(entity.rawKind) || entity.libraryWait === 'lock' || entity.excludes !== null;

/** The end of a parallel region: what its threads wait for there is a part of it. */
export const isRegionEnd = ({ libraryWait }: Entity): boolean => libraryWait === 'region-end';
export const isBarrier = (entity: Entity): boolean =>
  entity.rawKind === 'barrier' || entity.libraryWait === 'barrier' || isRegionEnd(entity);
/** Another thread passes something on there, inside a library. */
export const passesOn = ({ libraryWait }: Entity): boolean => libraryWait === 'data';
/** Another process lets it go on: a message, or all of them have to come, as they start and end too (MPI). */
export const isOfProcesses = ({ libraryWait }: Pick<Entity, 'libraryWait'>): boolean =>
  libraryWait === 'message' || libraryWait === 'collective' || libraryWait === 'processes';
/** What is waited for there is not known. */
export const isUnexplained = ({ libraryWait }: Entity): boolean => libraryWait === 'unknown';
/** Threads come there again and again, as far as can be seen: of a loop or a futex nobody counts the waits. */
export const isUncounted = ({ rawKind }: Entity): boolean => rawKind === 'futex' || rawKind === 'loop';

const dataKinds: ReadonlySet<string> = new Set(['channel', 'condition', 'semaphore', 'futex']);
/** Data may go through it from thread to thread. */
export const passesData = (entity: Entity): boolean =>
  dataKinds.has(entity.rawKind) && !isLock(entity) && !isBarrier(entity) && !isOfProcesses(entity);
