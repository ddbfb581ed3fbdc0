/** Shorter forms of a name, for findings, tables and the live screen. Pure. */

/**
 * A name without template arguments that lie deeper than `depth` (0: without any); `<…>` stands for them. The brackets
 * of operators and of Rust's `<T as Trait>::method` stay.
 */
export function withoutArguments(name: string, depth: number): string {
  let text = '',
    inside = 0;
  for (let at = 0; at < name.length; at++) {
    const symbol = /^operator(<=>|<<=|>>=|->\*?|<<|>>|<=|>=|<|>)/.exec(name.slice(at, at + 11))?.[0];
    const c = name[at]!;
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
 * The forms of a name, the most telling first and the shortest last. What makes C++ names long and tells little goes
 * first: inner template arguments, all of them, parameters of lambdas, outer scopes. Of "mutex at file:line" the place
 * goes last.
 */
export function formsOf(name: string): readonly string[] {
  const place = /^(.*) at ([^ ]+)$/.exec(name);
  if (place !== null) return [name, `${place[1]!} ${place[2]!}`, place[2]!];
  if (!/[<({:]/.test(name)) return [name];
  const spoken = name
    .replace(/\bstd::(?:__cxx11|__1)::/g, 'std::')
    .replace(/\bstd::basic_string<char(?:, std::char_traits<char>(?:, std::allocator<char> ?)?)? ?>/g, 'std::string');
  const bare = withoutArguments(spoken, 0);
  const lambdas = bare.replace(/\{lambda\((?:[^(){}]|\([^(){}]*\))*\)(#\d+)?\}/g, '{lambda$1}');
  const all = [name, spoken, withoutArguments(spoken, 1), bare, lambdas, ...innerScopes(lambdas)];
  return all.filter((form, at) => at === 0 || form !== all[at - 1]);
}

/** "a::b::c" as "…::b::c" and "…::c". */
function innerScopes(name: string): string[] {
  const starts: number[] = [];
  let depth = 0;
  for (let at = 0; at < name.length; at++) {
    if ('<({['.includes(name[at]!)) depth++;
    else if ('>)}]'.includes(name[at]!)) depth = Math.max(0, depth - 1);
    else if (depth === 0 && name.startsWith('::', at)) starts.push(at++);
  }
  return starts.filter((start) => start > 1).map((start) => `…${name.slice(start)}`);
}

/** A long name as a sentence has it: without what tells little; its scopes stay. */
export function briefly(name: string, most = 80): string {
  const all = formsOf(name).filter((form) => !form.startsWith('…'));
  return name.length <= most ? name : (all.find((form) => form.length <= most) ?? all.at(-1)!);
}
