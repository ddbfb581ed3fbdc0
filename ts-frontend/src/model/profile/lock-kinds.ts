/** Locks, which whoever has one keeps on its stack: qz_kind_is_lock of abi/session.h. Pure. */
import type { EntityKind } from './raw-profile.js';

const locks: ReadonlySet<EntityKind> = new Set<EntityKind>(['mutex', 'rwlock', 'spinlock']);
export const isLockKind = (kind: EntityKind): boolean => locks.has(kind);
