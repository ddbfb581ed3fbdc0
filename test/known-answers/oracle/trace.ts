/**
 * Reads the exact traces that the oracle build of the thread package writes (publisher/trace.h): one file for each
 * kernel thread, merged by time.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export type TraceEvent =
  | { ns: number; kind: 'now'; processor: number; state: number; thread: number } // thread: index, -1 = none
  | { ns: number; kind: 'state'; thread: number; state: number }
  | { ns: number; kind: 'begin'; thread: number; serial: number }
  | { ns: number; kind: 'end'; thread: number }
  | { ns: number; kind: 'stack'; thread: number; keys: bigint[] } // bottom first
  | { ns: number; kind: 'queue'; object: number; length: number };

const magic = 0x314352544f5a5551n;
/** Kinds of overhead are not distinguished here: states above the last one are all overhead. */
const ofProcessor = (state: number): number => (state >= 7 ? 2 : state);

const kinds = { now: 1, state: 2, begin: 3, end: 4, stack: 5, entry: 6, queue: 7 } as const;

/** The part of a trace that has been written; the file is sparse and much longer. */
function contents(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(24);
    readSync(file, head, 0, head.length, 0);
    // A kernel thread that was about to write its first event when the program ended: it has none.
    if (head.readBigUInt64LE(0) === 0n) return Buffer.alloc(64);
    if (head.readBigUInt64LE(0) !== magic) throw new Error(`${path} is not a trace`);
    if (head.readBigUInt64LE(16) !== 0n) throw new Error(`${path} lost events`);
    const bytes = Buffer.alloc(64 + 24 * Number(head.readBigUInt64LE(8)));
    if (readSync(file, bytes, 0, bytes.length, 0) !== bytes.length) throw new Error(`${path} is cut`);
    return bytes;
  } finally {
    closeSync(file);
  }
}

/** Events of one file. `baseNs` is taken from every time, so that times are small and exact. */
function parse(path: string, baseNs: bigint): TraceEvent[] {
  const bytes = contents(path);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = Number(view.getBigUint64(8, true));
  const events: TraceEvent[] = [];
  for (let k = 0; k < count; k++) {
    const at = 64 + 24 * k;
    const ns = Number(view.getBigUint64(at, true) - baseNs);
    const kind = view.getUint32(at + 8, true);
    const subject = view.getUint32(at + 12, true);
    const value = view.getBigUint64(at + 16, true);
    switch (kind) {
      case kinds.now:
        events.push({
          ns,
          kind: 'now',
          processor: subject,
          state: ofProcessor(Number(value & 15n)),
          thread: Number((value >> 4n) & 0xffffffffn) - 1,
        });
        break;
      case kinds.state:
        events.push({ ns, kind: 'state', thread: subject, state: Number(value & 15n) });
        break;
      case kinds.begin:
        events.push({ ns, kind: 'begin', thread: subject, serial: Number(value) });
        break;
      case kinds.end:
        events.push({ ns, kind: 'end', thread: subject });
        break;
      case kinds.stack: {
        const keys: bigint[] = [];
        for (let entry = 0; entry < Number(value); entry++) {
          k++;
          keys.push(view.getBigUint64(64 + 24 * k + 16, true));
        }
        events.push({ ns, kind: 'stack', thread: subject, keys });
        break;
      }
      case kinds.queue:
        events.push({ ns, kind: 'queue', object: subject, length: Number(value) });
        break;
      default:
        throw new Error(`${path} has an event of kind ${kind}`);
    }
  }
  return events;
}

/** All events of the traces STEM.*, in the order in which they happened. */
export function readTrace(stem: string, baseNs: bigint): TraceEvent[] {
  const events: TraceEvent[] = [];
  for (const file of readdirSync(dirname(stem))) {
    if (file.startsWith(`${basename(stem)}.`)) {
      for (const event of parse(join(dirname(stem), file), baseNs)) events.push(event);
    }
  }
  return events.sort((a, b) => a.ns - b.ns); // stable: events of one file stay in their order
}
