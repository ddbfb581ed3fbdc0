/**
 * Perfetto's native trace format (protos/perfetto/trace/trace_packet.proto, track_event/), written with pbf: one track
 * per counter and per thread. Field numbers are those of Perfetto's protocol buffers.
 */
import { PbfWriter } from 'pbf';
import type { TimeLine } from './counters.js';

const Field = {
  packet: 1, // fields of Trace
  timestamp: 8, // fields of TracePacket
  sequence: 10,
  event: 11,
  sequenceFlags: 13,
  trackDescriptor: 60,
} as const;
const Track = { uuid: 1, name: 2, process: 3, thread: 4, parent: 5, counter: 8 } as const;
const Process = { pid: 1, name: 6 } as const;
const Thread = { pid: 1, tid: 2, name: 5 } as const;
const Counter = { unitName: 6 } as const;
const Event = { annotation: 4, type: 9, track: 11, category: 22, name: 23, counterValue: 44 } as const;
const Annotation = { text: 6, name: 10 } as const;
const EventType = { begin: 1, end: 2, counter: 4 } as const;
const needsNoState = 1; // SEQ_INCREMENTAL_STATE_CLEARED
const sequence = 1;

export function perfetto({ process, counters, lives, tracks }: TimeLine): Uint8Array {
  const out = new PbfWriter();
  const packet = (write: (to: PbfWriter) => void): void => {
    out.writeMessage(
      Field.packet,
      (_, to) => {
        to.writeVarintField(Field.sequence, sequence);
        to.writeVarintField(Field.sequenceFlags, needsNoState);
        write(to);
      },
      null,
    );
  };
  const track = (uuid: number, name: string, write: (to: PbfWriter) => void): void => {
    packet((to) => {
      to.writeMessage(
        Field.trackDescriptor,
        (_, its) => {
          its.writeVarintField(Track.uuid, uuid);
          its.writeStringField(Track.name, name);
          write(its);
        },
        null,
      );
    });
  };
  const event = (atNs: number, uuid: number, type: number, write: (to: PbfWriter) => void = () => undefined): void => {
    packet((to) => {
      to.writeVarintField(Field.timestamp, Math.round(atNs));
      to.writeMessage(
        Field.event,
        (_, its) => {
          its.writeVarintField(Event.type, type);
          its.writeVarintField(Event.track, uuid);
          write(its);
        },
        null,
      );
    });
  };

  const whole = 1;
  track(whole, process.name, (to) => {
    to.writeMessage(
      Track.process,
      (_, its) => {
        its.writeVarintField(Process.pid, process.id);
        its.writeStringField(Process.name, process.name);
      },
      null,
    );
  });
  counters.forEach(({ name, unit, points }, at) => {
    const uuid = whole + 1 + at;
    track(uuid, name, (to) => {
      to.writeVarintField(Track.parent, whole);
      to.writeMessage(
        Track.counter,
        (_, its) => {
          its.writeStringField(Counter.unitName, unit);
        },
        null,
      );
    });
    for (const { atNs, value } of points)
      event(atNs, uuid, EventType.counter, (to) => {
        to.writeDoubleField(Event.counterValue, value);
      });
  });
  lives.forEach(({ id, name, fromNs, toNs }, at) => {
    const uuid = whole + 1 + counters.length + at;
    track(uuid, name, (to) => {
      to.writeVarintField(Track.parent, whole);
      to.writeMessage(
        Track.thread,
        (_, its) => {
          its.writeVarintField(Thread.pid, process.id);
          its.writeVarintField(Thread.tid, id);
          its.writeStringField(Thread.name, name);
        },
        null,
      );
    });
    event(fromNs, uuid, EventType.begin, (to) => {
      to.writeStringField(Event.name, 'alive');
    });
    event(Math.max(fromNs, toNs), uuid, EventType.end);
  });
  // A thread's slices are on the track of its lifetime.
  const uuidOf = new Map(lives.map(({ id }, at) => [id, whole + 1 + counters.length + at]));
  const firstOther = whole + 1 + counters.length + lives.length;
  tracks.forEach(({ name, thread, slices }, at) => {
    const known = thread === null ? undefined : uuidOf.get(thread);
    const uuid = known ?? firstOther + at;
    if (known === undefined)
      track(uuid, name, (to) => {
        to.writeVarintField(Track.parent, whole);
      });
    for (const { atNs, ns, name: what, category, stack } of slices) {
      event(atNs, uuid, EventType.begin, (to) => {
        to.writeStringField(Event.category, category);
        to.writeStringField(Event.name, what);
        if (stack !== '')
          to.writeMessage(
            Event.annotation,
            (_, its) => {
              its.writeStringField(Annotation.text, stack);
              its.writeStringField(Annotation.name, 'stack');
            },
            null,
          );
      });
      event(atNs + ns, uuid, EventType.end);
    }
  });
  return out.finish();
}
