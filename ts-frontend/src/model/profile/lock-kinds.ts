/** Kinds of locks, which their holders keep on the stack. Pure. */
import { lockKinds } from './abi.js';
import type { EntityKind } from './raw-profile.js';

const locks: ReadonlySet<EntityKind> = new Set<EntityKind>(lockKinds);
export const isLockKind = (kind: EntityKind): boolean => locks.has(kind);
