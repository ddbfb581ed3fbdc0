/** Procedures of C++ by the name that the programmer would give them. */
import { defined } from '../profile/columns.js';

/** Up to the comma or bracket that ends the first of several template arguments. */
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

/** A list in parentheses, which may hold such lists. */
const list = String.raw`\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)`;
const lambda = String.raw`\{lambda(?:${list})?(?:#\d+)?\}`;
/** Of a lambda: at the end, or before the lambda that is in it. */
const callOperator = new RegExp(`(${lambda})::operator\\(\\)(?:${list})?(?: const)?(?=$|::\\{lambda)`, 'g');

/**
 * What a std::thread of libstdc++ runs is shown by its own name, `main::{lambda()#1}`, not by that of the template's
 * instance; of a pointer the type alone is known: `std::async(long (*)(int))`. And so is a lambda that runs as a
 * thread, or in parallel, of the thread package: it is inlined into a start routine of quartz.hpp. What else a lambda
 * runs is its call operator, which is not said; nor is that of a lambda around it:
 * `main::{lambda()#1}::{lambda(int)#2}`.
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

/** The lambda that is the template's argument. */
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
