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
      'Each process pays this cost once: replace many short runs by one long-running process, compile less (java ' +
      '-XX:TieredStopAtLevel=1 turns the optimizing compiler off), or compile before the run (class-data sharing, ' +
      `ahead-of-time compilation). That could save up to ${time(savesNs)}; the code itself may then run slower.`,
  };
}
