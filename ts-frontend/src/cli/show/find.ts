/** Finds the entity that a name on the command line refers to. */
import { findEntities, item, type Model } from '../../model/index.js';
import { Failure } from '../failure.js';
import { didYouMean } from '../nearest.js';

/** Accepts "NAME", "KIND NAME", or a part of a name that only one entity has. */
export function find(model: Model, name: string): number {
  const byKind = model.ranking.find(
    (id) => `${item(model.entities, id).kind} ${item(model.entities, id).name}` === name,
  );
  if (byKind !== undefined) return byKind;
  const ids = findEntities(model, name);
  if (ids.length === 0) {
    const names = new Set(model.entities.map((entity) => entity.name));
    throw new Failure(
      `nothing in this profile is called "${name}"`,
      didYouMean(name, names, '"quartz report" and "quartz threads" list the names'),
    );
  }
  const exact = ids.filter((id) => item(model.entities, id).name === name);
  if (exact.length === 0 && ids.length > 1) {
    const some = ids
      .slice(0, 5)
      .map((id) => `"${item(model.entities, id).kind} ${item(model.entities, id).name}"`)
      .join(', ');
    throw new Failure(`"${name}" is part of ${ids.length} names`, `say which: ${some}${ids.length > 5 ? ', ...' : ''}`);
  }
  return item(ids, 0);
}
