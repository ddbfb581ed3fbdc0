/** Sentences for code that runs while the other processors are idle. */
import { item } from '../../model/index.js';
import type { Finding, SerialFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import { heldText, type Phrases, type Sentences } from '../wording/phrases.js';

export function serial(
  finding: Finding,
  facts: SerialFacts,
  { model, costs, title, name, processorUse, calledFrom, waitingAt, time, share }: Phrases,
): Sentences {
  const callers = calledFrom(facts.callers);
  const isLock = item(model.entities, finding.entity).kind === 'lock';
  const code =
    facts.worker?.thread === finding.entity
      ? 'That'
      : isLock
        ? heldText(title(finding.entity))
        : `${title(finding.entity)}${facts.itself ? ' itself' : ''}`;
  const inside = [...(facts.loop === null ? [] : [`the loop at ${facts.loop}`]), ...facts.parts.map(name)];
  const parts = inside.length > 0 ? ` Most of that is in ${inside.join(' and ')}.` : '';
  const smaller =
    facts.smaller.length > 0
      ? ` Also serial: ${facts.smaller.map((one) => `${title(one.entity)} ${time(one.costNs)}`).join(', ')}.`
      : '';
  const other = facts.siblings?.threads === 1 ? 'thread' : 'threads';
  const change = facts.siblings
    ? `Give the other ${other} a share of it (smaller pieces, or a rule of division by which not all of it comes to ` +
      'one of them), or do less there'
    : facts.worker
      ? 'Distribute the work among several threads, or do less there'
      : facts.succession !== null
        ? 'Start the next threads before waiting for one to end (a future of std::async waits for its thread when it ' +
          'is destroyed: keep it until all threads have started), or do less there'
        : facts.most !== null
          ? 'Divide it evenly among these threads (smaller pieces, which each takes when it has done the one ' +
            'before), or do less there'
          : 'Do less there, or do it in parallel';
  const first = facts.worker ? `${code.charAt(0).toUpperCase()}${code.slice(1)}` : code;
  const worker = facts.worker
    ? `One thread, ${title(facts.worker.thread)}, does ${share(facts.worker.share)} of all work; the others only ` +
      'pass it on, or wait. '
    : '';
  const several =
    facts.succession !== null
      ? `${count(facts.succession)} threads ran it, each of which started after the one before it had ended; `
      : facts.oneAtATime !== null
        ? `${count(facts.oneAtATime)} threads ran it, ${
            facts.most === null
              ? 'mostly one at a time'
              : `${share(facts.most.share)} of it in thread ${name(facts.most.thread)}`
          }; `
        : '';
  return {
    text:
      `${worker}${first}${callers} costs ${costs(finding.costNs)}: ${several}while it ran, ` +
      `${processorUse(finding.processorUse)}${waitingAt(facts.waiting)}.${parts}${siblingsText(facts, name)}${smaller}`,
    remedy:
      `${change}: without it the run would take ${time(finding.costNs)} less` +
      (model.usable > 1 ? `; spread over ${model.usable} processors, ${time(facts.spreadNs)} less.` : '.'),
  };
}

function siblingsText({ siblings }: SerialFacts, name: Phrases['name']): string {
  if (!siblings) return '';
  const start = `in ${name(siblings.start)}, like the one that runs it,`;
  return siblings.threads === 1
    ? ` Another thread that begins ${start} has hardly any work.`
    : ` ${count(siblings.threads)} more threads that begin ${start} have hardly any work.`;
}
