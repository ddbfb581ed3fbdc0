/** Which rank waited for which: patterns, clocks of several hosts, thinned events, and the length of the path. */
import test from 'ava';
import { abi, noInstructions, type RawProfile } from '../../../ts-frontend/src/model/index.js';
import { clockOffsets, JobEvents } from '../../../ts-frontend/src/sets/job-events.js';
import { latenessOf } from '../../../ts-frontend/src/sets/lateness.js';

const { MessageKind } = abi;
interface Event {
  kind: number;
  at: number; // ms
  ms: number;
  posted?: number;
  peer?: number;
  number?: number;
  tag?: number;
  communicator?: number;
  call?: number;
}

function messagesOf(events: readonly Event[], thinning = 0): Pick<RawProfile, 'messages'> {
  const times = (of: (event: Event) => number): Float64Array => Float64Array.from(events, of);
  const words = (of: (event: Event) => number): Uint32Array => Uint32Array.from(events, of);
  return {
    messages: {
      ...noInstructions().messages,
      postedNs: times(({ at, posted }) => 1e6 * (posted ?? at)),
      beginNs: times(({ at }) => 1e6 * at),
      ns: times(({ ms }) => 1e6 * ms),
      communicator: times(({ communicator }) => communicator ?? 1),
      number: words(({ number }) => number ?? 0),
      peer: words(({ peer }) => peer ?? -1),
      tag: words(({ tag }) => tag ?? 0),
      kind: words(({ kind }) => kind),
      call: words(({ call }) => call ?? 1),
      thinning: words(() => thinning),
    },
  };
}

function jobOf(ranks: readonly (readonly Event[])[], thinning = 0): JobEvents {
  const events = new JobEvents();
  ranks.forEach((own, rank) => {
    events.add(rank, rank, messagesOf(own, thinning), (id) => id);
  });
  return events;
}
const ranksOf = (count: number, ms: number, hosts: readonly string[] = []) =>
  Array.from({ length: count }, (_, rank) => ({ host: hosts[rank] ?? 'one', first_ns: 0, elapsed_ns: 1e6 * ms }));
const { sent, received, all, fromRoot, toRoot, prefix } = MessageKind;

test('a late sender: the receiver waits from its call to the sender’s, not longer than its call', (t) => {
  const job = jobOf([[{ kind: received, at: 10, ms: 32, peer: 1 }], [{ kind: sent, at: 40, ms: 1, peer: 0 }]]);
  t.deepEqual(latenessOf(job, ranksOf(2, 100)).lateness, [
    { member: 0, late_member: 1, entity: 1, pattern: 'late sender', waits: 1, ns: 30e6, most_ns: 30e6 },
  ]);
});

test('a late receiver: the sender waits; a receive that was posted before makes nobody wait', (t) => {
  const late = jobOf([[{ kind: sent, at: 10, ms: 25, peer: 1 }], [{ kind: received, at: 30, ms: 5, peer: 0 }]]);
  t.like(latenessOf(late, ranksOf(2, 100)).lateness[0], { member: 0, pattern: 'late receiver', ns: 20e6 });
  const posted = jobOf([
    [{ kind: sent, at: 10, ms: 1, peer: 1 }],
    [{ kind: received, at: 30, ms: 0, posted: 5, peer: 0 }],
  ]);
  t.deepEqual(latenessOf(posted, ranksOf(2, 100)).lateness, []);
});

test('messages match by communicator, tag and number alone', (t) => {
  const ofOther = (change: Partial<Event>) =>
    latenessOf(
      jobOf([[{ kind: received, at: 10, ms: 32, peer: 1 }], [{ kind: sent, at: 40, ms: 1, peer: 0, ...change }]]),
      ranksOf(2, 100),
    ).lateness.length;
  t.is(ofOther({}), 1);
  for (const change of [{ tag: 3 }, { number: 1 }, { communicator: 5 }, { peer: 1 }]) t.is(ofOther(change), 0);
});

test('of several requests that one call waits for, the latest counts once', (t) => {
  const job = jobOf([
    [
      { kind: received, at: 10, ms: 50, posted: 9, peer: 1 },
      { kind: received, at: 10, ms: 50, posted: 9, peer: 2 },
    ],
    [{ kind: sent, at: 30, ms: 1, peer: 0 }],
    [{ kind: sent, at: 55, ms: 1, peer: 0 }],
  ]);
  const rows = latenessOf(job, ranksOf(3, 100)).lateness;
  t.is(rows.length, 1);
  t.like(rows[0], { late_member: 2, ns: 45e6 });
});

test('collectives: for the last one, for the root, the root for the last, for lower ranks', (t) => {
  const came = (kind: number, peer: number) =>
    latenessOf(jobOf([10, 40, 20].map((at) => [{ kind, at, ms: 60 - at, peer }])), ranksOf(3, 100)).lateness.map(
      ({ member, late_member, ns }) => `${member} for ${late_member}: ${ns / 1e6}`,
    );
  t.deepEqual(came(all, -1), ['0 for 1: 30', '2 for 1: 20']);
  t.deepEqual(came(fromRoot, 1), ['0 for 1: 30', '2 for 1: 20']);
  t.deepEqual(came(fromRoot, 0), []);
  t.deepEqual(came(toRoot, 0), ['0 for 1: 30']);
  t.deepEqual(came(prefix, -1), ['2 for 1: 20']);
});

test('hosts whose clocks differ are aligned by collectives; without any, their ranks are not compared', (t) => {
  const shift = 5000;
  const collective = (at: number, offset: number, number: number): Event => ({
    kind: all,
    at: at + offset,
    ms: 60 + 100 * number - at,
    number,
  });
  const ranks = [
    [collective(10, 0, 0), collective(110, 0, 1), { kind: received, at: 300, ms: 50, peer: 1, tag: 9 }],
    [collective(40, shift, 0), collective(150, shift, 1), { kind: sent, at: 340 + shift, ms: 1, peer: 0, tag: 9 }],
  ];
  const hosts = ['one', 'other'];
  t.deepEqual(clockOffsets(jobOf(ranks), hosts), [0, -shift * 1e6]);
  const rows = latenessOf(jobOf(ranks), ranksOf(2, 400, hosts)).lateness;
  t.is(rows.find(({ pattern }) => pattern === 'late sender')?.ns, 40e6);
  const alone = ranks.map((events) => events.filter(({ kind }) => kind !== all));
  t.deepEqual(latenessOf(jobOf(alone), ranksOf(2, 400, hosts)).lateness, []);
});

test('thinned events stand for several, and give no path', (t) => {
  const job = jobOf(
    [[{ kind: received, at: 10, ms: 32, peer: 1, number: 8 }], [{ kind: sent, at: 40, ms: 1, peer: 0, number: 8 }]],
    3,
  );
  const { lateness, path } = latenessOf(job, ranksOf(2, 100));
  t.like(lateness[0], { waits: 8, ns: 240e6, most_ns: 30e6 });
  t.deepEqual(path, []);
});

test('the path goes from the last rank’s end to whoever it waited for; its length is the elapsed time', (t) => {
  const job = jobOf([
    [
      { kind: received, at: 10, ms: 32, peer: 1, call: 2 },
      { kind: received, at: 60, ms: 25, peer: 1, call: 3, number: 1 },
    ],
    [
      { kind: sent, at: 40, ms: 1, peer: 0, call: 4 },
      { kind: sent, at: 80, ms: 1, peer: 0, call: 5, number: 1 },
    ],
  ]);
  const { path } = latenessOf(job, [
    { host: 'one', first_ns: 0, elapsed_ns: 100e6 },
    { host: 'one', first_ns: 0, elapsed_ns: 90e6 },
  ]);
  const text = path.map(({ member, after, until, what, ns }) => `${member} ${what} ${after}-${until}: ${ns / 1e6}`);
  t.deepEqual(text.sort(), ['0 message 3-3: 5', '0 rank 3-0: 15', '1 rank 0-5: 80']);
  t.is(
    path.reduce((sum, { ns }) => sum + ns, 0),
    100e6,
  );
});
