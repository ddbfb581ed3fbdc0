/** Names of entities in sentences, in tables and on the live screen. */
import { defined, item } from '../../model/index.js';
import { placeOf, type Entity, type Model } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { briefly, shortName, withoutModules } from './short-names.js';
import { clean, cut, width } from '../format/text.js';

const shown = ({ kind: its, name }: Entity): string => (its === 'procedure' ? name : withoutModules(name));
const many = (entity: Entity): string => (entity.instances > 1 ? ` (${entity.instances})` : '');
const kind = (entity: Entity): string => (entity.saysItsKind ? '' : `${entity.kind} `);

/** The kind of an entity, to follow its name on the live screen: " [mutex]"; '' if the name contains it. */
export const kindTag = (entity: Entity): string => (entity.saysItsKind ? '' : ` [${entity.rawKind}]`);

/** The entity's name in a sentence: "mutex queue", "the 8 locks row", "sum (sum.c:7)". */
export function titleOf(model: Model, id: number): string {
  const entity = item(model.entities, id);
  if (id === 0) return "the program's code outside any known procedure";
  if (entity.kind === 'procedure') {
    const place = placeText(model, entity);
    // A reader cannot interpret an address without a symbol, so the exported procedure comes first.
    if (entity.runsFor !== 0) return `${briefly(item(model.entities, entity.runsFor).name)} (in ${entity.name})`;
    return place === '' ? briefly(entity.name) : `${briefly(entity.name)} (${place})`;
  }
  const several = entity.members.length > 1 ? `the ${entity.members.length} ${entity.kind}s ` : `${entity.kind} `;
  return entity.saysItsKind ? shown(entity) : `${several}${shown(entity)}`;
}

/** "sum.c:7, inlined into step"; '' if neither is known. */
function placeText(model: Pick<Model, 'entities'>, { file, line, inlinedInto }: Entity): string {
  const [first, ...others] = inlinedInto;
  const into =
    first === undefined
      ? ''
      : others.length === 0
        ? `inlined into ${briefly(item(model.entities, first).name)}`
        : `inlined into ${inlinedInto.length} procedures`;
  return [placeOf(file, line), into].filter((part) => part !== '').join(', ');
}

/** The name of a procedure; other entities are prefixed with their kind. */
export function label(entity: Entity, options: Pick<RenderOptions, 'ascii'>): string {
  return kind(entity) + nameWithoutKind(entity, options);
}

/** The label without the kind, for tables whose heading gives it. */
export function nameWithoutKind(entity: Entity, options: Pick<RenderOptions, 'ascii'>): string {
  return clean(shown(entity), options) + many(entity);
}

/** The label, shortened to the given number of columns. */
export function shortLabel(
  model: Model,
  entity: Entity,
  columns: number,
  options: Pick<RenderOptions, 'ascii'>,
): string {
  return kind(entity) + shortNameWithoutKind(model, entity, columns - width(kind(entity)), options);
}

export function shortNameWithoutKind(
  model: Model,
  entity: Entity,
  columns: number,
  options: Pick<RenderOptions, 'ascii'>,
): string {
  const room = Math.max(8, columns - width(many(entity)));
  return clean(shortName(model, shown(entity), room, options), options) + many(entity);
}

/** file:line and the procedure that it is inlined into, or why they are unknown. */
export const whereabouts = (model: Model, entity: Entity, options: Pick<RenderOptions, 'ascii'>): string =>
  clean(entity.file === '' ? entity.detail : placeText(model, entity), options);

/** file:line without the directory, or in parentheses why it is unknown, and the procedure that it is inlined into. */
export function place(model: Model, entity: Entity, options: Pick<RenderOptions, 'ascii'>): string {
  return entity.file === '' ? inParentheses(whereabouts(model, entity, options)) : whereabouts(model, entity, options);
}

/** The label with its location, or why that is unknown, in parentheses. */
export function labelAndPlace(model: Model, entity: Entity, options: Pick<RenderOptions, 'ascii'>): string {
  return [label(entity, options), inParentheses(whereabouts(model, entity, options))].join(' ').trimEnd();
}

const inParentheses = (text: string): string => (text === '' ? '' : `(${text})`);

export const entityName = (model: Model, id: number, options: Pick<RenderOptions, 'ascii'>): string =>
  clean(model.entities[id]?.name ?? '?', options);

/**
 * " #3" if the thread shares its name with another one of the given threads, else '': it is the third thread with that
 * name of the whole recording. (Not the number of its record: a thread may get that of one that has ended.)
 */
export function threadNumbers(model: Pick<Model, 'entities'>, threads: Iterable<number>): (id: number) => string {
  const nameOf = (id: number): string => model.entities[id]?.name ?? '?';
  const given = new Map<string, Set<number>>();
  for (const id of threads) given.set(nameOf(id), (given.get(nameOf(id)) ?? new Set()).add(id));
  const isShared = (name: string): boolean => (given.get(name)?.size ?? 0) > 1;
  const numbers = new Map<number, number>();
  const counts = new Map<string, number>();
  for (const { id, rawKind, name, members } of model.entities) {
    if (id === 0 || rawKind !== 'thread' || members.length > 0 || !isShared(name)) continue;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    numbers.set(id, counts.get(name) ?? 0);
  }
  return (id) => (isShared(nameOf(id)) ? ` #${numbers.get(id) ?? id}` : '');
}

/** The procedure that contains a call, with the line, because two calls in one procedure need distinct names. */
export function callText(
  model: Model,
  { caller, line }: { caller: number; line: number },
  options: Pick<RenderOptions, 'ascii'>,
): string {
  if (caller === 0) return '';
  const entity = item(model.entities, caller);
  return label(entity, options) + (line > 0 ? ` (${clean(placeOf(entity.file, line), options)})` : '');
}

/**
 * A call path in one line, outermost first; if space is short, names are shortened, then the outermost ones are
 * omitted.
 */
export function path(
  model: Model,
  ids: readonly number[],
  columns: number,
  options: Pick<RenderOptions, 'ascii'>,
): string {
  if (ids.length === 0) return '(no path seen)';
  const arrow = options.ascii ? ' > ' : ' › ';
  const join = (most: number): string[] =>
    ids.map((id) => clean(shortName(model, model.entities[id]?.name ?? '?', most, options), options));
  const whole = join(Infinity).join(arrow);
  if (width(whole) <= columns) return whole;
  const names = join(Math.max(24, Math.floor(columns / 2)));
  const less = names.join(arrow);
  if (width(less) <= columns) return less;
  const left = (options.ascii ? '..' : '…') + arrow;
  let text = defined(names.at(-1));
  for (let index = names.length - 2; index >= 0; index--) {
    const longer = `${item(names, index)}${arrow}${text}`;
    if (width(left) + width(longer) > columns) break;
    text = longer;
  }
  return cut(left + text, columns, options);
}
