/**
 * Metrics that a user defines: `name = expression` over the columns of a view. Units are checked: times and numbers are
 * not added to each other, and the result is a time, a number, or neither (an error). Pure.
 *
 *   expression  sums and products of numbers, columns, (expression), min(a, b), max(a, b)
 *   columns     those of amountNames with all below, NAME_self without; `elapsed`, `processors`, `effort` of the whole
 *   run
 *
 * A division by zero gives 0: nothing was there to be divided.
 */
import type { Model } from '../result/types.js';
import { amountNames, costIndex, costNames, type AmountName } from './costs.js';
import type { ViewRow } from './rows.js';

export type Unit = 'time' | 'number';
export interface DerivedMetric {
  name: string;
  unit: Unit; // of its values: ns, or a plain number
  /** Whether it is a sum of columns, so that the rows below a row add up to at most the row. */
  adds: boolean;
  value: (row: ViewRow) => number;
}

/** Describes the mistake in a definition, as a clause. */
export class MetricError extends Error {}

interface Term {
  power: number; // exponent of time in the unit
  adds: boolean;
  constant: boolean; // the same for all rows, and not negative
  value: (row: ViewRow) => number;
}

/** The names that expressions may contain. */
export const columnNames: readonly string[] = [
  ...amountNames.flatMap((name) => [name, `${name}_self`]),
  'elapsed',
  'processors',
  'effort',
];

export function derivedMetric(model: Model, definition: string): DerivedMetric {
  const equals = definition.indexOf('=');
  const name = definition.slice(0, equals).trim();
  if (equals < 0 || name === '') throw new MetricError('it has no name; write NAME = EXPRESSION');
  const term = new Reader(model, definition.slice(equals + 1)).whole();
  if (term.power !== 0 && term.power !== 1)
    throw new MetricError('its value is neither a time nor a plain number; divide by a time, or by fewer');
  return { name, unit: term.power === 1 ? 'time' : 'number', adds: term.adds, value: term.value };
}

const constant = (value: number, power = 0): Term => ({ power, adds: false, constant: true, value: () => value });

class Reader {
  private readonly tokens: string[];
  private at = 0;
  constructor(
    private readonly model: Model,
    text: string,
  ) {
    this.tokens = text.match(/[A-Za-z_]\w*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\S/g) ?? [];
  }
  whole(): Term {
    const term = this.sum();
    const left = this.tokens[this.at];
    if (left !== undefined) throw new MetricError(`"${left}" does not belong there`);
    return term;
  }
  private accept(token: string): boolean {
    if (this.tokens[this.at] !== token) return false;
    this.at++;
    return true;
  }
  private expect(token: string): void {
    if (!this.accept(token))
      throw new MetricError(`"${token}" is missing before "${this.tokens[this.at] ?? 'the end'}"`);
  }
  private sum(): Term {
    let left = this.product();
    for (;;) {
      const sign = this.accept('+') ? 1 : this.accept('-') ? -1 : 0;
      if (sign === 0) return left;
      const right = this.product();
      const both = (is: 'adds' | 'constant'): boolean => sign === 1 && left[is] && right[is];
      const of = { adds: both('adds'), constant: both('constant') };
      left = { ...sameUnit(left, right, (a, b) => a + sign * b), ...of };
    }
  }
  private product(): Term {
    let left = this.factor();
    for (;;) {
      const a = left;
      if (this.accept('*')) {
        const b = this.factor();
        left = {
          power: a.power + b.power,
          adds: (a.adds && b.constant) || (a.constant && b.adds),
          constant: a.constant && b.constant,
          value: (row) => a.value(row) * b.value(row),
        };
      } else if (this.accept('/')) {
        const b = this.factor();
        const ratio = (over: number, under: number): number => (under === 0 ? 0 : over / under);
        left = {
          power: a.power - b.power,
          adds: a.adds && b.constant,
          constant: a.constant && b.constant,
          value: (row) => ratio(a.value(row), b.value(row)),
        };
      } else return left;
    }
  }
  private factor(): Term {
    if (this.accept('-')) {
      const term = this.factor();
      return { ...term, adds: false, constant: false, value: (row) => -term.value(row) };
    }
    if (this.accept('(')) {
      const term = this.sum();
      this.expect(')');
      return term;
    }
    const token = this.tokens[this.at++];
    if (token === undefined) throw new MetricError('it ends where a column or a number should stand');
    if (/^\d/.test(token)) return constant(Number(token));
    if (token === 'min' || token === 'max') {
      this.expect('(');
      const a = this.sum();
      this.expect(',');
      const b = this.sum();
      this.expect(')');
      return sameUnit(a, b, token === 'min' ? Math.min : Math.max);
    }
    return this.column(token);
  }
  private column(name: string): Term {
    const { elapsedNs, processors, effortNs } = this.model;
    if (name === 'elapsed') return constant(elapsedNs, 1);
    if (name === 'processors') return constant(processors);
    if (name === 'effort') return constant(effortNs, 1);
    const self = name.endsWith('_self');
    const plain = self ? name.slice(0, -'_self'.length) : name;
    if (!(amountNames as readonly string[]).includes(plain))
      throw new MetricError(`there is no column "${name}"; there are ${columnNames.join(', ')}`);
    const index = costIndex[plain as AmountName];
    const isTime = (costNames as readonly string[]).includes(plain);
    const value = (row: ViewRow): number => (self ? row.self : row.total)[index] ?? 0;
    return { power: isTime ? 1 : 0, adds: !self, constant: false, value };
  }
}

function sameUnit(a: Term, b: Term, of: (x: number, y: number) => number): Term {
  if (a.power !== b.power) throw new MetricError('it adds or compares a time and a number');
  const value = (row: ViewRow): number => of(a.value(row), b.value(row));
  return { power: a.power, adds: false, constant: a.constant && b.constant, value };
}
