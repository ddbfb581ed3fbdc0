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
  const titles = new Set(ids.map((id) => `"${item(model.entities, id).kind} ${item(model.entities, id).name}"`));
  if (titles.size > 1 && !ids.some((id) => item(model.entities, id).name === name)) {
    const some = [...titles].slice(0, 5).join(', ');
    const which = `say which: ${some}${titles.size > 5 ? ', ...' : ''}`;
    throw new Failure(`"${name}" is part of ${titles.size} names`, which);
  }
  return ids.find((id) => item(model.entities, id).name === name) ?? item(ids, 0);
}
