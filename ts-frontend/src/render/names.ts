/** How entities are called in tables. */
import { inlinedText, placeOf, saysItsKind, type Entity, type Model } from '../model/index.js';
import type { RenderOptions } from './options.js';
import { clean, cut, width } from './text.js';

/** A procedure by its name alone, all else with its kind before it. */
export function label(entity: Entity, options: Pick<RenderOptions, 'ascii'>): string {
  const name = clean(entity.name, options);
  const many = entity.instances > 1 ? ` (${entity.instances})` : '';
  return (saysItsKind(entity) ? name : `${entity.kind} ${name}`) + many;
}

/** file:line, or why there is none, and what it is inlined into; the directory is left out. */
export function place(model: Model, entity: Entity, options: Pick<RenderOptions, 'ascii'>): string {
  if (entity.file === '') return entity.detail === '' ? '' : `(${clean(entity.detail, options)})`;
  return clean(placeOf(entity.file, entity.line) + inlinedText(model, entity), options);
}

export const entityName = (model: Model, id: number, options: Pick<RenderOptions, 'ascii'>): string =>
  clean(model.entities[id]?.name ?? '?', options);

/** A call path in one line, outermost first; where space is short, the outermost go. */
export function path(model: Model, ids: readonly number[], columns: number, options: Pick<RenderOptions, 'ascii'>): string {
  if (ids.length === 0) return '(no path seen)';
  const arrow = options.ascii ? ' > ' : ' › ';
  const names = ids.map((id) => entityName(model, id, options));
  const whole = names.join(arrow);
  if (width(whole) <= columns) return whole;
  let text = names[names.length - 1]!;
  for (let index = names.length - 2; index >= 0; index--) {
    const longer = `${names[index]!}${arrow}${text}`;
    if (width(longer) + 2 + arrow.length > columns) break;
    text = longer;
  }
  return cut(`${options.ascii ? '..' : '…'}${arrow}${text}`, columns, options);
}
