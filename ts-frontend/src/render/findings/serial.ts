/** Sentences for code that runs while the other processors are idle. */
import { item } from '../../model/index.js';
import type { Finding, SerialFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import { heldText, type Phrases, type Sentences } from '../wording/phrases.js';

/** What is done again by each of several threads need not be done by each of them. */
const again =
  'is destroyed: keep it until all threads have started), or, as far as each of them does what the one before did ' +
  '(load, compile, connect, read the same input), let one thread do several pieces, or do that once for all';

/** More than this multiple of the cost is said to go as well. */
const noticeably = 1.05;

export function serial(finding: Finding, facts: SerialFacts, phrases: Phrases): Sentences {
  const { model, costs, title, name, processorUse, calledFrom, waitingAt, time, share } = phrases;
  const callers = calledFrom(facts.callers);
  const { kind, members } = item(model.entities, finding.entity);
  const isLock = kind === 'lock';
  const code =
    facts.pieces.length > 0
      ? facts.only
        ? `All code of ${title(finding.entity)}, the program's only one,`
        : `All code that ${title(finding.entity)} runs alone`
      : facts.worker && kind === 'thread' // that thread, or the threads of its name
        ? 'That'
        : isLock
          ? heldText(title(finding.entity))
          : `${title(finding.entity)}${facts.itself ? ' itself' : ''}`;
  const inside = [...(facts.loop === null ? [] : [`the loop at ${facts.loop}`]), ...facts.parts.map(name)];
  const pieces = facts.pieces.map((one) => `${title(one.entity)} ${time(one.costNs)}`);
  const parts = inside.length > 0 ? ` Most of that is in ${inside.join(' and ')}.` : '';
  const smaller =
    facts.smaller.length > 0
      ? ` Also serial: ${facts.smaller.map((one) => `${title(one.entity)} ${time(one.costNs)}`).join(', ')}.`
      : '';
  const spread = facts.inAll === null || model.usable <= 1 ? '' : time(facts.inAll.spreadNs);
  const inAll =
    facts.inAll === null
      ? ''
      : ` All that this thread runs alone costs ${costs(facts.inAll.costNs)}` +
        `${spread === '' ? '' : `; spread over ${model.usable} processors, up to ${spread} less`}.`;
  // What it takes while the processors are busy, or while others wait for a lock, goes as well.
  const without =
    facts.allNs >= noticeably * finding.costNs
      ? `${time(facts.allNs)} less (with ${time(facts.allNs - finding.costNs)} that it takes at other times)`
      : `${time(finding.costNs)} less`;
  const team =
    facts.teamNs === null
      ? ''
      : 'Several threads gain nothing here: one that does all of the work (OMP_NUM_THREADS=1) would take ' +
        `${facts.teamNs < model.elapsedNs / 100 ? 'about as long as' : `${time(facts.teamNs)} less than`} this run, ` +
        'since the pieces of work in parallel regions are too small, and between these the other threads wait, or ' +
        'spin. Make the pieces larger (one region instead of several), or use one thread. Or ';
  const other = facts.siblings?.threads === 1 ? 'thread' : 'threads';
  const change = facts.siblings
    ? `Give the other ${other} a share of it (smaller pieces, or a rule of division by which not all of it comes to ` +
      'one of them), or do less there'
    : facts.worker
      ? 'Distribute the work among several threads, or do less there'
      : facts.succession !== null
        ? `Start the next threads before waiting for one to end (a future of std::async waits for its thread when it ${
            facts.again === null ? 'is destroyed: keep it until all threads have started), or do less there' : again
          }`
        : facts.most !== null
          ? 'Divide it evenly among these threads (smaller pieces, which each takes when it has done the one ' +
            'before), or do less there'
          : 'Do less there, or do it in parallel';
  const areThreads = !facts.worker && facts.pieces.length === 0 && kind === 'thread' && members.length > 1;
  const first = areThreads ? `${code.charAt(0).toUpperCase()}${code.slice(1)}` : code;
  const ran = areThreads ? 'each' : `${count(facts.succession ?? 0)} threads ran it, each of which`;
  const worker = facts.worker
    ? `One thread, ${title(facts.worker.thread)}, does ${share(facts.worker.share)} of all work; the others only ` +
      'pass it on, or wait. '
    : '';
  const several =
    facts.succession !== null
      ? `${ran} started after the one before it had ended; `
      : facts.oneAtATime !== null
        ? `${count(facts.oneAtATime)} threads ran it, ${
            facts.most === null
              ? 'mostly one at a time'
              : `${share(facts.most.share)} of it in thread ${name(facts.most.thread)}`
          }; `
        : '';
  return {
    text:
      `${worker}${first}${callers} ${areThreads ? 'cost' : 'costs'} ${costs(finding.costNs)}: ${several}` +
      `while ${areThreads ? 'they' : 'it'} ran, ` +
      `${processorUse(finding.processorUse)}${waitingAt(facts.waiting)}.` +
      `${backgroundText(facts, finding.costNs, time)}${piecesText(facts, pieces, finding.costNs)}${parts}` +
      `${siblingsText(facts, name)}${againText(facts.again, title, time)}${smaller}${inAll}`,
    remedy:
      pieces.length > 0 && team === ''
        ? spreadText(model.usable, time(facts.spreadNs)) + largestText(facts, phrases)
        : `${team}${team === '' ? change : change.charAt(0).toLowerCase() + change.slice(1)}: ` +
          `without it the run would take ${without}` +
          (model.usable > 1 ? `; spread over ${model.usable} processors, up to ${time(facts.spreadNs)} less.` : '.'),
  };
}

/** From this share of the cost on. */
const leastBackground = 0.05;
const backgroundText = ({ backgroundNs }: SerialFacts, costNs: number, time: Phrases['time']): string =>
  backgroundNs < leastBackground * costNs
    ? ''
    : ` For ${time(backgroundNs)} of that, others compiled the program's code (JIT), which it does not wait for.`;

function piecesText({ pieces: its }: SerialFacts, pieces: readonly string[], costNs: number): string {
  const [largest] = its;
  if (!largest) return '';
  const none = 2 * largest.costNs < costNs ? ' No procedure has half of it: the' : ' The';
  return `${none} ${pieces.length === 1 ? 'largest part is' : 'largest parts are'} ${pieces.join(', ')}.`;
}

const spreadText = (processors: number, time: string): string =>
  'Let several threads do it, or do less in the largest parts' +
  (processors > 1 ? `: spread over ${processors} processors, it would take up to ${time} less.` : '.');

/** What one thread may do that has to do all of it. */
function largestText({ pieces: [largest] }: SerialFacts, { title, time }: Phrases): string {
  return largest ? ` Without ${title(largest.entity)} it would take ${time(largest.costNs)} less.` : '';
}

function againText(its: SerialFacts['again'], title: Phrases['title'], time: Phrases['time']): string {
  if (!its) return '';
  const all = its.procedures.map(({ entity, eachNs }) => `${title(entity)} (${time(eachNs)} in each)`).join(' and in ');
  return ` Each of them takes ${time(its.workNs)} on average, and spends about as much of it as the others in ${all}.`;
}

function siblingsText({ siblings }: SerialFacts, name: Phrases['name']): string {
  if (!siblings) return '';
  const start = `in ${name(siblings.start)}, like the one that runs it,`;
  return siblings.threads === 1
    ? ` Another thread that begins ${start} has hardly any work.`
    : ` ${count(siblings.threads)} more threads that begin ${start} have hardly any work.`;
}
