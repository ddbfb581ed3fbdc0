/**
 * Notice about incomplete call paths: those that do not reach their thread's beginning, and callers that were found
 * without unwind tables.
 */
import { unwindingOf } from '../metrics/unwinding.js';
import type { CallPathsNotice } from '../result/notices.js';
import type { Model } from '../result/types.js';
import { cutReasons, type UnwindingModule } from '../result/unwinding.js';

/** The least share of walks, or of steps, that is reported. */
const least = 0.005;

const cutOf = ({ cut }: Pick<UnwindingModule, 'cut'>): number => cutReasons.reduce((sum, why) => sum + cut[why], 0);

export function callPaths({ raw }: Model): CallPathsNotice[] {
  const unwinding = unwindingOf(raw);
  const { walks, modules, steps } = unwinding;
  const cut = cutOf(unwinding);
  const [worst] = [...modules].sort((a, b) => cutOf(b) - cutOf(a));
  const { valid, likely } = steps.code;
  const found = valid + likely + steps.pointer.valid + steps.pointer.likely;
  const all = found + steps.table.valid + steps.table.likely + steps.table.invalid;
  const isCut = cut > 0 && cut >= least * walks;
  if (worst === undefined || (!isCut && (found === 0 || found < least * all))) return [];
  const [why = 'no-rule'] = [...cutReasons].sort((a, b) => worst.cut[b] - worst.cut[a]);
  return [
    {
      form: 'call-paths',
      walks,
      cut: isCut ? cut : 0,
      worst: { module: worst.module, cut: cutOf(worst), why },
      steps: found,
      valid: valid + steps.pointer.valid,
      refused: steps.code.invalid + steps.pointer.invalid,
    },
  ];
}
