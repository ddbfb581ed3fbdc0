/** How entities are called in tables. */
import type { Entity, Model } from '../model/index.js';
import type { RenderOptions } from './options.js';
import { clean } from './text.js';

/** A procedure by its name alone, all else with its kind before it. */
export function label(entity: Entity, options: Pick<RenderOptions, 'ascii'>): string {
  const name = clean(entity.name, options);
  const many = entity.instances > 1 ? ` (${entity.instances})` : '';
  return (entity.kind === 'procedure' ? name : `${entity.kind} ${name}`) + many;
}

/** file:line, or why there is none; the directory is left out. */
export function place(entity: Entity, options: Pick<RenderOptions, 'ascii'>): string {
  if (entity.file === '') return entity.detail === '' ? '' : `(${clean(entity.detail, options)})`;
  const file = clean(entity.file.slice(entity.file.lastIndexOf('/') + 1), options);
  return entity.line > 0 ? `${file}:${entity.line}` : file;
}

export const entityName = (model: Model, id: number, options: Pick<RenderOptions, 'ascii'>): string =>
  clean(model.entities[id]?.name ?? '?', options);

/** A call path in one line, outermost first. */
export function path(model: Model, ids: readonly number[], options: Pick<RenderOptions, 'ascii'>): string {
  if (ids.length === 0) return '(no path seen)';
  return ids.map((id) => entityName(model, id, options)).join(options.ascii ? ' > ' : ' › ');
}
