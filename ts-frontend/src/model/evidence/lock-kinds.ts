/** What a lock is: the one predicate. */
import type { Entity } from '../result/types.js';
import { insideKind } from './library-waits.js';

const locks = new Set(['mutex', 'rwlock', 'spinlock']);
export const isLock = (entity: Entity): boolean => locks.has(entity.rawKind) || insideKind(entity) === 'lock';
