/**
 * Names in so many columns, for reports and the live screen: a shorter form (model/short-names.ts) where one fits and
 * is no other name's too, so that what tells two names apart stays.
 */
import { formsOf, type Model } from '../model/index.js';
import type { RenderOptions } from './format/options.js';
import { cut, width } from './format/text.js';

/** A live screen asks again and again for the forms of the same names. */
const remembered = new Map<string, readonly string[]>();
const mostRemembered = 50_000;
function forms(name: string): readonly string[] {
  let found = remembered.get(name);
  if (found === undefined) {
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.set(name, (found = formsOf(name)));
  }
  return found;
}

/** Names by their forms, but for the first one, which is the name itself. */
type Owners = ReadonlyMap<string, readonly string[]>;
const known = new WeakMap<Model, Owners>();

function ownersIn(model: Model): Owners {
  const before = known.get(model);
  if (before !== undefined) return before;
  const owners = new Map<string, string[]>();
  for (const name of new Set(model.entities.map((entity) => entity.name))) {
    for (const form of forms(name)) {
      const list = owners.get(form);
      if (list === undefined) owners.set(form, [name]);
      else list.push(name);
    }
  }
  known.set(model, owners);
  return owners;
}

/** How many characters two texts have in common at their beginnings. */
function common(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** The name in at most so many columns. `model` knows the names that it must be told from. */
export function shortName(model: Model, name: string, columns: number, options: Pick<RenderOptions, 'ascii'>): string {
  if (width(name) <= columns) return name;
  const shown = (form: string): string => (options.ascii ? form.replaceAll('…', '..') : form);
  const owners = ownersIn(model);
  const others = (form: string): readonly string[] => (owners.get(form) ?? []).filter((other) => other !== name);
  const all = forms(name);
  const own = all.filter((form) => others(form).length === 0);
  const fits = own.find((form) => width(shown(form)) <= columns);
  if (fits !== undefined) return shown(fits);
  const shortest = own.at(-1) ?? name;
  const rivals = others(all.find((form) => others(form).length > 0) ?? '');
  // Its beginning, and the place from which on it is told from the others.
  const from = Math.max(0, ...rivals.map((rival) => common(rival, shortest)));
  const head = Math.ceil(columns / 2);
  return from <= head
    ? cut(shown(shortest), columns, options)
    : cut(
        shown(`${shortest.slice(0, head - 1)}…${shortest.slice(Math.max(head, from - 2))}`.slice(0, columns)),
        columns,
        options,
      );
}
