/**
 * Shortens names for findings, tables and the live screen: picks a shorter form that fits and differs from the forms of
 * all other names, so that the names stay distinguishable. Pure functions.
 */
import { defined, item, placeOf } from '../../model/index.js';
import type { Model } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { cut, width } from '../format/text.js';

/**
 * The name with template arguments nested deeper than `depth` replaced by `<…>`. The brackets of operators and of
 * Rust's `<T as Trait>::method` are kept.
 */
function withoutArguments(name: string, depth: number): string {
  let text = '',
    inside = 0;
  for (let at = 0; at < name.length; at++) {
    const symbol = /^operator(<=>|<<=|>>=|->\*?|<<|>>|<=|>=|<|>)/.exec(name.slice(at, at + 11))?.[0];
    const c = defined(name[at]);
    if (symbol !== undefined) {
      if (inside <= depth) text += symbol;
      at += symbol.length - 1;
    } else if (c === '<' && at > 0) {
      if (inside === depth) text += '<…>';
      else if (inside < depth) text += c;
      inside++;
    } else if (c === '>' && inside > 0 && name[at - 1] !== '-') {
      inside--;
      if (inside < depth) text += c;
    } else if (inside <= depth) text += c;
  }
  return text;
}

/**
 * The name of an object of Rust's library as its user knows it: "Mutex::lock at jobs.rs:7" for
 * "std::sys::sync::mutex::futex::Mutex::lock_contended at jobs.rs:7".
 */
export const withoutModules = (name: string): string =>
  name.replace(/^std::(?:[a-z_0-9]+::)+([A-Z]\w*)(?:<\w+>)?::(\w+?)(?:_contended|_slow|_timeout)?(?= at |$)/, '$1::$2');

/**
 * The forms of a name, from the longest to the shortest. The least informative parts are removed first: inner template
 * arguments, all template arguments, parameters of lambdas, outer scopes. Of "mutex at file:line" the location is
 * removed last; a loop remains recognizable as one.
 */
export function formsOf(name: string): readonly string[] {
  const place = /^(.*) at ([^ ]+)$/.exec(name);
  if (place !== null && item(place, 1) === 'loop') return loopForms(name, item(place, 2));
  if (place !== null) return [name, `${item(place, 1)} ${item(place, 2)}`, item(place, 2)];
  if (!/[<({:]/.test(name)) return [name];
  const spoken = name
    .replace(/(?:::\{\{closure\}\}){2,}/g, (all) => `::{{closure ×${all.split('::').length - 1}}}`)
    .replace(/\bstd::(?:__cxx11|__1)::/g, 'std::')
    .replace(/\bstd::basic_string<char(?:, std::char_traits<char>(?:, std::allocator<char> ?)?)? ?>/g, 'std::string');
  const bare = withoutArguments(spoken, 0);
  const lambdas = bare.replace(/\{lambda\((?:[^(){}]|\([^(){}]*\))*\)(#\d+)?\}/g, '{lambda$1}');
  // of nested lambdas, only the first and the last are kept
  const nested = lambdas.replace(/(\{lambda[^{}]*\})(?:::\{lambda[^{}]*\})+(?=::\{lambda[^{}]*\}$)/, '$1::…');
  const all = [name, spoken, withoutArguments(spoken, 1), bare, lambdas, nested, ...innerScopes(lambdas)];
  return all.filter((form, at) => at === 0 || form !== all[at - 1]);
}

/**
 * Without its prefix a loop would look like a line of code, so it is kept; for "libz.so.1.2.13+0x3817" the offset is
 * enough.
 */
function loopForms(name: string, place: string): string[] {
  const offset = /\+0x[0-9a-f]+$/.exec(place)?.[0];
  return [name, `loop ${place}`, ...(offset === undefined ? [] : [`loop …${offset}`])];
}

/** Forms without outer scopes: "…::b::c" and "…::c" for "a::b::c". */
function innerScopes(name: string): string[] {
  const starts: number[] = [];
  let depth = 0;
  for (let at = 0; at < name.length; at++) {
    if ('<({['.includes(defined(name[at]))) depth++;
    else if ('>)}]'.includes(defined(name[at]))) depth = Math.max(0, depth - 1);
    else if (depth === 0 && name.startsWith('::', at)) starts.push(at++);
  }
  return starts.filter((start) => start > 1).map((start) => `…${name.slice(start)}`);
}

/** The form of a long name for sentences: without uninformative parts, but with its scopes. */
export function briefly(name: string, most = 60): string {
  const all = formsOf(name).filter((form) => !form.startsWith('…'));
  return name.length <= most ? name : (all.find((form) => form.length <= most) ?? defined(all.at(-1)));
}

/** Cached, because the live screen requests the forms of the same names at each refresh. */
const remembered = new Map<string, readonly string[]>();
const mostRemembered = 50_000;
function remember(name: string): readonly string[] {
  let found = remembered.get(name);
  if (found === undefined) {
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.set(name, (found = formsOf(name)));
  }
  return found;
}

/** The names of a model: the forms of each name, and which names have a given form. */
interface Names {
  forms: ReadonlyMap<string, readonly string[]>;
  owners: ReadonlyMap<string, readonly string[]>;
}
const known = new WeakMap<Model, Names>();

/**
 * Forms of lambdas include their location before they lose their scope, because their names alone are not informative.
 */
function formsAt(name: string, place: string): readonly string[] {
  const forms = remember(name);
  if (place === '' || !/\{lambda[^{}]*\}$/.test(name)) return forms;
  const scoped = forms.filter((form) => !form.startsWith('…'));
  return [...scoped, `{lambda} ${place}`, ...forms.slice(scoped.length)];
}

function namesIn(model: Model): Names {
  const before = known.get(model);
  if (before !== undefined) return before;
  const places = new Map<string, string>(); // '' if entities of that name have different locations
  for (const { name, file, line } of model.entities) {
    const place = file === '' || line <= 0 ? '' : placeOf(file, line);
    places.set(name, (places.get(name) ?? place) === place ? place : '');
  }
  const forms = new Map<string, readonly string[]>();
  const owners = new Map<string, string[]>();
  for (const [name, place] of places) {
    const its = formsAt(name, place);
    forms.set(name, its);
    for (const form of its) {
      const list = owners.get(form);
      if (list === undefined) owners.set(form, [name]);
      else list.push(name);
    }
  }
  const names = { forms, owners };
  known.set(model, names);
  return names;
}

/** The length of the common prefix of two texts. */
function common(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/**
 * The name, shortened to the given number of columns. `model` contains the names that it must be distinguishable from.
 */
export function shortName(model: Model, name: string, columns: number, options: Pick<RenderOptions, 'ascii'>): string {
  if (width(name) <= columns) return name;
  const shown = (form: string): string => (options.ascii ? form.replaceAll('…', '..') : form);
  const { owners, forms } = namesIn(model);
  const others = (form: string): readonly string[] => (owners.get(form) ?? []).filter((other) => other !== name);
  const all = forms.get(name) ?? remember(name);
  const own = all.filter((form) => others(form).length === 0);
  const fits = own.find((form) => width(shown(form)) <= columns);
  if (fits !== undefined) return shown(fits);
  const shortest = own.at(-1) ?? name;
  const rivals = others(all.find((form) => others(form).length > 0) ?? '');
  // The beginning, followed by the part from which on it differs from all other names.
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
