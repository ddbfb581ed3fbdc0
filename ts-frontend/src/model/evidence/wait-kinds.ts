/**
 * What threads wait for inside of libraries, which the sampler sees only as a futex, and in loops: determined by the
 * library procedure that the program called, which the sampler classifies (abi/origin.h). Pure functions.
 */
import { isLockKind } from '../profile/lock-kinds.js';
import type { Entity } from '../result/types.js';

export const isLock = (entity: Entity): boolean =>
  isLockKind(entity.rawKind) || entity.libraryWait === 'lock' || entity.excludes !== null;

/** The end of a parallel region: the threads wait there for one that still executes a part of it. */
export const isRegionEnd = ({ libraryWait }: Entity): boolean => libraryWait === 'region-end';
/** A thread waits there for tasks that other threads of its team execute. */
const isForTasks = ({ libraryWait }: Entity): boolean => libraryWait === 'tasks';
export const isBarrier = (entity: Entity): boolean =>
  entity.rawKind === 'barrier' || entity.libraryWait === 'barrier' || isRegionEnd(entity) || isForTasks(entity);
/** Whether threads of a team wait there, inside OpenMP's library, for the team's next region. */
export const isTeamRest = (entity: Entity): boolean =>
  entity.origin === 'openmp' && isUncounted(entity) && isUnexplained(entity);
/** Whether threads that share work wait there for the other threads' shares. */
export const isMeeting = (entity: Entity): boolean => isBarrier(entity) || isTeamRest(entity);
/** Whether another thread passes data on there, inside of a library. */
export const passesOn = ({ libraryWait }: Entity): boolean => libraryWait === 'data';
/**
 * Whether another process ends the wait (MPI): by a message, or by arriving at a collective call, including start and
 * end.
 */
export const isOfProcesses = ({ libraryWait }: Pick<Entity, 'libraryWait'>): boolean =>
  libraryWait === 'message' || libraryWait === 'collective' || libraryWait === 'processes';
/** Whether the reason for the wait is unknown. */
export const isUnexplained = ({ libraryWait }: Entity): boolean => libraryWait === 'unknown';
/**
 * Whether waits are not counted, as for loops and for futexes that no layer sees, so that threads have to be assumed to
 * wait repeatedly.
 */
export const isUncounted = ({ rawKind, object }: Entity): boolean =>
  rawKind === 'loop' || (rawKind === 'futex' && !object?.waitsCounted);

/** Whether, as far as is known, only another thread of the program can end waits there. */
export const endsWithin = (entity: Entity): boolean =>
  !isOfProcesses(entity) &&
  entity.rawKind !== 'sleep' &&
  (!isUncounted(entity) || isLock(entity) || isMeeting(entity) || passesOn(entity) || entity.origin === 'openmp');

const dataKinds: ReadonlySet<string> = new Set(['channel', 'condition', 'semaphore', 'futex']);
/** Whether threads may pass data to each other through it. */
export const passesData = (entity: Entity): boolean =>
  dataKinds.has(entity.rawKind) && !isLock(entity) && !isMeeting(entity) && !isOfProcesses(entity);
