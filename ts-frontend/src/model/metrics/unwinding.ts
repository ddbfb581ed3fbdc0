/** Statistics of stack walks: how many were cut short, where and why, and how callers were found. Pure. */
import type { RawProfile } from '../profile/raw-profile.js';
import type { CutReason, Unwinding, UnwindingModule } from '../result/unwinding.js';
import { cutReasons, unwoundBy } from '../result/unwinding.js';
import { f64 } from '../profile/columns.js';

type Columns = RawProfile['unwinding'];

const cutColumns = {
  'no-rule': 'noRule',
  wrong: 'wrong',
  memory: 'memory',
  generated: 'generated',
  later: 'later',
  deep: 'deep',
} as const satisfies Record<CutReason, keyof Columns>;

function moduleAt(raw: RawProfile, k: number): UnwindingModule {
  const columns = raw.unwinding;
  const figure = (name: keyof Columns): number => f64(columns[name], k);
  const cut = Object.fromEntries(cutReasons.map((why) => [why, figure(cutColumns[why])])) as UnwindingModule['cut'];
  const steps = Object.fromEntries(
    unwoundBy.map((by) => [
      by,
      { valid: figure(`${by}Valid`), likely: figure(`${by}Likely`), invalid: figure(`${by}Invalid`) },
    ]),
  ) as UnwindingModule['steps'];
  return { module: k === 0 ? '' : (raw.modules[k - 1]?.path ?? ''), walks: figure('walks'), cut, steps };
}

function add(one: UnwindingModule, other: UnwindingModule): UnwindingModule {
  const cut = { ...one.cut };
  for (const why of cutReasons) cut[why] += other.cut[why];
  const steps = { ...one.steps };
  for (const by of unwoundBy) {
    const [a, b] = [one.steps[by], other.steps[by]];
    steps[by] = { valid: a.valid + b.valid, likely: a.likely + b.likely, invalid: a.invalid + b.invalid };
  }
  return { module: '', walks: one.walks + other.walks, cut, steps };
}

/** Statistics of all modules together, and of each module that has any. */
export function unwindingOf(raw: RawProfile): Unwinding {
  const rows = Array.from(raw.unwinding.walks, (_, k) => moduleAt(raw, k));
  const none = { valid: 0, likely: 0, invalid: 0 };
  const start: UnwindingModule = {
    module: '',
    walks: 0,
    cut: { 'no-rule': 0, wrong: 0, memory: 0, generated: 0, later: 0, deep: 0 },
    steps: { table: none, code: none, pointer: none },
  };
  const { walks, cut, steps } = rows.reduce(add, start);
  const used = ({ walks: count, steps: its }: UnwindingModule): boolean =>
    count > 0 || unwoundBy.some((by) => its[by].valid + its[by].likely + its[by].invalid > 0);
  return { walks, cut, steps, modules: rows.filter(used) };
}
