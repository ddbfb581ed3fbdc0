/**
 * Objects of two profiles that are the same one, though their names differ: an object without a name is named after the
 * place where it was first used, which moves when the program is changed, and depends on which thread comes first
 * (docs/reference/compare.md). Pure.
 */
import { objectKinds } from '../profile/abi.js';
import { defined, item } from '../profile/columns.js';
import type { Entity, Model } from '../result/types.js';

/** The entities of a profile, by what corresponds to those of another one. */
type ByKey = ReadonlyMap<string, Entity>;

/** Names of the procedures that use it, in any order. */
const usersOf = (model: Model, { callers }: Entity): string =>
  callers
    .map(({ entity }) => item(model.entities, entity).name)
    .sort()
    .join('\0');

/** From closest to loosest: the same procedures use it; there is no other one in that file. */
const likenesses: readonly ((model: Model, entity: Entity) => string)[] = [
  (model, entity) => [entity.rawKind, entity.file, usersOf(model, entity)].join('\0'),
  (_, entity) => [entity.rawKind, entity.file].join('\0'),
];

/** Objects named after their place, of which the other profile has none of that name. */
const leftOf = (own: ByKey, other: ByKey): Map<string, Entity> =>
  new Map(
    [...own].filter(
      ([key, { saysItsKind, rawKind, file }]) =>
        saysItsKind && rawKind in objectKinds && file !== '' && !other.has(key),
    ),
  );

/** Keys by likeness, where only one of those left has it. */
function byLikeness(
  model: Model,
  left: ByKey,
  likeness: (model: Model, entity: Entity) => string,
): Map<string, string> {
  const keys = new Map<string, string[]>();
  for (const [key, entity] of left) {
    const its = likeness(model, entity);
    keys.set(its, [...(keys.get(its) ?? []), key]);
  }
  return new Map([...keys].filter(([, all]) => all.length === 1).map(([its, all]) => [its, defined(all[0])]));
}

/** Keys of the second profile, with the key that the same object has in the first. */
export function movedObjects(
  [before, old]: readonly [Model, ByKey],
  [after, now]: readonly [Model, ByKey],
): Map<string, string> {
  const leftOld = leftOf(old, now),
    leftNow = leftOf(now, old);
  const moved = new Map<string, string>();
  for (const likeness of likenesses) {
    const theirs = byLikeness(after, leftNow, likeness);
    for (const [its, key] of byLikeness(before, leftOld, likeness)) {
      const same = theirs.get(its);
      if (same === undefined) continue;
      moved.set(same, key);
      leftOld.delete(key);
      leftNow.delete(same);
    }
  }
  return moved;
}
