/** Names of C++ procedures as the programmer would write them. */
import { defined } from '../profile/columns.js';

/** The first of several template arguments: the text up to its comma or closing bracket. */
function firstArgument(list: string): string {
  let depth = 0;
  for (let at = 0; at < list.length; at++) {
    const c = defined(list[at]);
    if (depth === 0 && (c === ',' || c === '>')) return list.slice(0, at).trim();
    if ('<({['.includes(c)) depth++;
    if ('>)}]'.includes(c)) depth--;
  }
  return list;
}

/** A parenthesized list, which may contain such lists. */
const list = String.raw`\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)`;
const lambda = String.raw`\{lambda(?:${list})?(?:#\d+)?\}`;
/** The call operator of a lambda, at the end of a name or before a nested lambda. */
const callOperator = new RegExp(`(${lambda})::operator\\(\\)(?:${list})?(?: const)?(?=$|::\\{lambda)`, 'g');

/**
 * Removes implementation details from names. The code that a std::thread of libstdc++ runs gets its own name,
 * `main::{lambda()#1}`, instead of that of the template's instance; for a function pointer only the type is known:
 * `std::async(long (*)(int))`. The same applies to a lambda that the thread package runs as a thread or in parallel,
 * which is inlined into a start routine of quartz.hpp. The call operators of lambdas, also of enclosing ones, are
 * omitted: `main::{lambda()#1}::{lambda(int)#2}`.
 */
export function ownName(name: string): string {
  const state =
    /^std::(?:(thread)::_State_impl|__future_base::_Async_state_impl)<std::thread::_Invoker<std::tuple</.exec(name);
  if (state !== null && name.endsWith('::_M_run')) {
    const what = firstArgument(name.slice(state[0].length));
    return what.includes('*') ? `std::${state[1] ?? 'async'}(${what})` : withoutOperators(what);
  }
  return withoutOperators(started(name) ?? name);
}

/** The lambda that is an argument of the thread package's template. */
function started(name: string): string | undefined {
  const template = /^qz::(?:thread::thread|spawn|scope::spawn|parallel_for)</.exec(name)?.[0];
  if (template === undefined || !name.endsWith('::_FUN')) return undefined;
  let rest = name.slice(template.length);
  for (;;) {
    const one = firstArgument(rest);
    if (one.endsWith('}') && one.includes('::{lambda(')) return one;
    if (rest[one.length] !== ',') return undefined;
    rest = rest.slice(one.length + 1).trimStart();
  }
}

const withoutOperators = (name: string): string => name.replace(callOperator, '$1');
