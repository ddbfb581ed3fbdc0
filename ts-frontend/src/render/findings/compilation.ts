/** Sentences for compilation by a language's run-time while the program runs (JIT). */
import type { CompilationFacts, Finding } from '../../model/index.js';
import type { Phrases, Sentences } from '../wording/phrases.js';

export function compilation(
  finding: Finding,
  { share: part, savesNs }: CompilationFacts,
  { title, costs, processorUse, time, share }: Phrases,
): Sentences {
  return {
    text:
      `Compiling code while the program runs (JIT) takes ${share(part)} of the processor time, most of it in ` +
      `${title(finding.entity)}. That costs ${costs(finding.costNs)}, while ${processorUse(finding.processorUse)}.`,
    remedy:
      'A long run does this once. For many short ones, keep one process that does their work, or compile less, or ' +
      'before: java -XX:TieredStopAtLevel=1 (no optimizing compiler), class-data sharing, code compiled ahead of ' +
      `time. That could save up to ${time(savesNs)}; the code itself may then run slower.`,
  };
}
