/** Sentences for the creation and exit of processes, and for data that is serialized between them. */
import type { Finding, ProcessStartFacts, SerializationFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import { type Phrases, type Sentences } from '../wording/phrases.js';

/** A memory size for which fork takes milliseconds to copy the page tables. */
const muchBytes = 64 * 2 ** 20;

export function processStarts(
  finding: Finding,
  facts: ProcessStartFacts,
  { title, name, costs, processorUse, time }: Phrases,
): Sentences {
  const { called, started, eachNs, ownNs, faultNs, waitedNs, copies, residentBytes, fewer, leastNs, savesNs, oneNs } =
    facts;
  const one = started === 1 ? 'process' : 'processes';
  const what = started === null ? one : `${count(started)} ${one}`;
  const parts = [
    ownNs > 0 ? `${time(ownNs)} in this process${called === null ? '' : ` (${name(called)})`}` : '',
    faultNs > 0 ? `${time(faultNs)} copying the pages that it writes to after a fork (page faults)` : '',
    waitedNs > 0 ? `${time(waitedNs)} waiting for them` : '',
  ].filter((part) => part !== '');
  const listed = [...parts.slice(0, -2), parts.slice(-2).join(', and ')].join(', ');
  const each =
    eachNs === null
      ? ''
      : ` Each child takes ${time(eachNs)} of processor time on average, including its start and end` +
        `${waitedNs > 0 ? ': it does little else' : ''}.`;
  const copying =
    copies && residentBytes >= muchBytes
      ? `each fork copies the page tables of all memory (up to ${count(Math.round(residentBytes / 1e6))} MB here): ` +
        'start programs with posix_spawn or vfork, or from a small helper process that is forked early; exclude ' +
        'memory that the child does not need (MADV_DONTFORK), or put it in huge pages. Or '
      : '';
  const few =
    'start fewer processes: do their work in this one (with a library, or built-in commands of a shell), give each ' +
    `more to do, or keep some as workers; ${fewer} times fewer would save `;
  const range = time(leastNs) === time(savesNs) ? time(savesNs) : `${time(leastNs)} to ${time(savesNs)}`;
  const besides = oneNs !== null && oneNs > finding.costNs ? ', with what this process does for each of them' : '';
  const byOne = oneNs === null ? '' : `, one process that does the work of all up to ${time(oneNs)}${besides}`;
  const remedy = `${copying}${few}${range}${byOne}.`;
  return {
    text:
      `Starting ${what}${finding.entity === 0 ? '' : `, in ${title(finding.entity)},`} costs ` +
      `${costs(finding.costNs)}, while ${processorUse(finding.processorUse)}: ${listed}.${each}`,
    remedy: `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)} --tree shows all processes in one report.`,
  };
}

const serialized = {
  processes: 'turning data into bytes and back',
  threads: 'turning objects in messages to other threads into bytes and back',
} as const;

export function serialization(
  finding: Finding,
  { share: part, between, caller, savesNs }: SerializationFacts,
  { title, name, costs, processorUse, time, share }: Phrases,
): Sentences {
  return {
    text:
      `Serialization (${serialized[between]}) takes ${share(part)} of the processor time of this process, ` +
      `most of it in ${title(finding.entity)}${caller === null ? '' : `, called from ${name(caller)}`}. That costs ` +
      `${costs(finding.costNs)}, while ${processorUse(finding.processorUse)}.`,
    remedy:
      between === 'threads'
        ? 'Pass less data in messages: share memory between threads (SharedArrayBuffer) or transfer it (the transfer ' +
          'list), use typed arrays of numbers instead of objects, or let workers keep or create the data themselves. ' +
          `That could save up to ${time(savesNs)}, plus the garbage collection of the copies.`
        : 'If the bytes are for other processes, pass less data: use shared memory (multiprocessing.shared_memory, ' +
          'mmap) or threads in one process, pass indices or file names instead of data, or let workers keep or ' +
          'create the data themselves; replace many small messages by fewer, larger ones (chunksize). That could ' +
          `save up to ${time(savesNs)}. --tree shows all processes in one report.`,
  };
}
