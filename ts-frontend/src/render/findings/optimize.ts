/** Code that takes the time where the processors are busy. */
import { item } from '../../model/index.js';
import type { Finding, OptimizeFacts } from '../../model/index.js';
import { heldText, type Phrases, type Sentences } from '../wording/phrases.js';

export function optimize(
  finding: Finding,
  { within, beside, savesNs }: OptimizeFacts,
  { model, title, name, costs, processorUse, time, share }: Phrases,
): Sentences {
  const entity = item(model.entities, finding.entity);
  const subject = entity.kind === 'lock' ? `${heldText(title(entity.id))},` : `${title(entity.id)} itself`;
  const part = within ? `, ${time(within.ns)} of that in ${name(within.entity)},` : '';
  const help = finding.processorUse.idle < 0.05 ? 'cannot help' : 'helps little';
  const other = beside
    ? ` ${title(beside.entity)} takes more (${share(beside.ns / model.elapsedNs)}), but other threads run it, and ` +
      `${title(beside.main)} is at work ` +
      `${share(Math.min(1, item(model.entities, beside.main).processorTimeNs / model.elapsedNs))} of the time: it ` +
      'waits for none of them.'
    : '';
  return {
    text:
      `${subject} takes ${costs(finding.costNs)}${part} while ${processorUse(finding.processorUse)}: more ` +
      `parallelism ${help} there.${other}`,
    remedy: `Make it faster: every 10 % saves ${time(savesNs / 5)}; twice as fast, ${time(savesNs)}.`,
  };
}
