/** What limits a job of several ranks: planted imbalances, whose savings are known; facts, words, and JSON. */
import { join } from 'node:path';
import test from 'ava';
import { abi, type RawProfile } from '../../../ts-frontend/src/model/index.js';
import type { JobFinding } from '../../../ts-frontend/src/sets/limits/types.js';
import { limitsOf } from '../../../ts-frontend/src/sets/limits/load.js';
import { limitsJson } from '../../../ts-frontend/src/sets/limits/report.js';
import { overlapsOf } from '../../../ts-frontend/src/sets/limits/overlap.js';
import { jobSentences, overlapSentence } from '../../../ts-frontend/src/sets/limits/sentences.js';
import { loadSet } from '../../../ts-frontend/src/sets/load.js';
import { merge, type ProfileSource } from '../../../ts-frontend/src/sets/merge.js';
import { readHead, type SetHead } from '../../../ts-frontend/src/sets/set-file.js';
import { jobSchemaErrors } from '../../support/json-schema.js';
import { io, ProfileBuilder, ready, run, wait, type Doing } from '../../support/profile-builder.js';
import { allreduce, jobOf, ms, sourcesOf } from '../../support/rank-profiles.js';
import { temporaryDirectory } from '../../support/temporary.js';

type Kind = JobFinding['kind'];
type Of<K extends Kind> = Extract<JobFinding, { kind: K }>;
interface Found {
  kinds: Kind[];
  of: <K extends Kind>(kind: K) => Of<K>;
  words: (kind: Kind) => string;
}

/** Findings of a job; their JSON is held to the schema. */
async function limits(
  check: (errors: string) => void,
  profiles: readonly RawProfile[] | readonly ProfileSource[],
): Promise<Found> {
  const folder = join(temporaryDirectory(), 'run.quartzset');
  const sources = profiles.map((one, k) => ('open' in one ? one : sourcesOf(profiles as RawProfile[])[k]!));
  await merge(sources, folder, { quartz: 'test', parameters: {} });
  const set = await loadSet(folder, readHead(folder) as SetHead, 'limits');
  const found = await limitsOf(folder, set);
  check(jobSchemaErrors(limitsJson(set, found, '0')));
  const one = (kind: Kind): JobFinding => {
    const finding = found.findings.find((its) => its.kind === kind);
    if (finding === undefined) throw new Error(`no finding ${kind}: ${found.findings.map((its) => its.kind).join()}`);
    return finding;
  };
  return {
    kinds: found.findings.map(({ kind }) => kind),
    of: <K extends Kind>(kind: K) => one(kind) as Of<K>,
    words: (kind) => {
      const { text, remedy } = jobSentences(found, one(kind), { ascii: false });
      return `${text} ${remedy}`;
    },
  };
}

interface Part {
  ms: number;
  doing: Doing;
}
const works = (milliseconds: number, ...stack: string[]): Part => ({
  ms: milliseconds,
  doing: run('main', ['main', ...stack]),
});
const reads = (milliseconds: number, ...stack: string[]): Part => ({
  ms: milliseconds,
  doing: io('main', ['main', ...stack]),
});
const meets: Part = { ms: -1, doing: wait('main', ['main', allreduce]) };
const { all, sent, received } = abi.MessageKind;
const recv = 'futex(message):MPI_Recv at pipe.c:7';
const gets = (rank: number): Part => ({ ms: -1, doing: { ...wait('main', ['main', recv]), thread: `${rank}` } });
const puts = (rank: number): Part => ({ ms: 0, doing: { ...run('main', ['main', 'MPI_Send']), thread: `${rank}` } });

interface Rank {
  parts: Part[];
  host?: string;
  cpuWaitMs?: number;
}

/**
 * Executes the ranks' parts, of which `meets` waits for all ranks, and `gets` for what another rank puts: profiles with
 * the events that the MPI layer would log. `transferMs`: each meeting takes that much longer.
 */
function job(ranks: readonly Rank[], transferMs = 0, events = true): RawProfile[] {
  const builders = ranks.map(
    ({ host = 'node0', cpuWaitMs = 0 }) =>
      new ProfileBuilder({
        processors: 1,
        head: {
          host: `${host}, Linux`,
          program: '/bin/solver',
          arguments: 'solver',
          pid: 4711,
          cpuWaitNs: cpuWaitMs * ms,
        },
      }),
  );
  const now = ranks.map(() => 0);
  const next = ranks.map(() => 0);
  const logs = ranks.map(() => [] as { kind: number; at: number; ns: number; peer: number; number: number }[]);
  const channels = new Map<string, number[]>();
  const stretch = (rank: number, milliseconds: number, doing: Doing): void => {
    if (milliseconds > 0) builders[rank]!.stretch(milliseconds * ms, [{ ...doing, thread: 'main' }]);
    now[rank]! += milliseconds;
  };
  let meetings = 0;
  for (let moved = true; moved;) {
    moved = false;
    ranks.forEach(({ parts }, rank) => {
      for (let part = parts[next[rank]!]; part !== undefined; part = parts[next[rank]!]) {
        const other = Number(part.doing.thread);
        if (part === meets) break;
        if (part.doing.thread === 'main') stretch(rank, part.ms, part.doing);
        else if (part.ms === 0) {
          const key = `${rank} ${other}`;
          const sends = channels.get(key) ?? [];
          channels.set(key, [...sends, now[rank]!]);
          logs[rank]!.push({ kind: sent, at: now[rank]!, ns: 0, peer: other, number: sends.length });
        } else {
          const number = logs[rank]!.filter(({ kind, peer }) => kind === received && peer === other).length;
          const at = channels.get(`${other} ${rank}`)?.[number];
          if (at === undefined) break;
          const waits = Math.max(0, at - now[rank]!);
          logs[rank]!.push({ kind: received, at: now[rank]!, ns: waits, peer: other, number });
          stretch(rank, waits, part.doing);
        }
        next[rank]!++;
        moved = true;
      }
    });
    if (ranks.every(({ parts }, rank) => parts[next[rank]!] === meets)) {
      const last = Math.max(...now) + transferMs;
      ranks.forEach((_, rank) => {
        logs[rank]!.push({ kind: all, at: now[rank]!, ns: last - now[rank]!, peer: -1, number: meetings });
        stretch(rank, last - now[rank]!, meets.doing);
        next[rank]!++;
      });
      meetings++;
      moved = true;
    }
  }
  return builders.map((builder, rank) => {
    const [collective, message, send] = [builder.id(allreduce), builder.id(recv), builder.id('MPI_Send')];
    for (const [name, line] of [
      ['solve', 12],
      ['assemble', 30],
      ['store', 50],
    ] as const)
      builder.describe(name, { file: '/src/solve.c', line });
    const raw = builder.build();
    const log = events ? logs[rank]! : [];
    const f64s = (of: (event: (typeof log)[number]) => number): Float64Array => Float64Array.from(log, of);
    const u32s = (of: (event: (typeof log)[number]) => number): Uint32Array => Uint32Array.from(log, of);
    raw.messages = {
      postedNs: f64s(({ at }) => at * ms),
      beginNs: f64s(({ at }) => at * ms),
      ns: f64s(({ ns }) => ns * ms),
      communicator: f64s(() => 1),
      number: u32s(({ number }) => number),
      peer: u32s(({ peer }) => peer),
      tag: u32s(() => 0),
      kind: u32s(({ kind }) => kind),
      call: u32s(({ kind }) => (kind === all ? collective : kind === received ? message : send)),
      thinning: u32s(() => 0),
    };
    return raw;
  });
}
const times = (count: number, parts: (round: number) => Part[]): Part[] =>
  Array.from({ length: count }, (_, round) => parts(round)).flat();
const uneven = (units: readonly number[], host?: (rank: number) => string): Rank[] =>
  units.map((unit, rank) => ({
    parts: times(10, () => [works(unit, 'solve'), meets]),
    ...(host ? { host: host(rank) } : {}),
  }));

for (const events of [true, false])
  test(`a rank that works longer: how long others wait, what even division saves (events: ${events})`, async (t) => {
    const { kinds, of, words } = await limits((errors) => t.is(errors, ''), job(uneven([20, 60, 20, 20]), 0, events));
    t.is(kinds[0], 'late-ranks');
    const late = of('late-ranks');
    t.like(late, { ranks: [1], waiting: 3, host: null, sampled: !events, costNs: 400 * ms, indirectNs: 0 });
    t.is(late.savingNs, 300 * ms, 'the longest is 600 ms, the mean 300 ms');
    t.like(late.extra, { form: 'work', longerNs: 400 * ms, factor: null, ns: 600 * ms, othersNs: 200 * ms });
    t.is(
      words('late-ranks'),
      `Rank 1 is late: the others wait for it ${events ? '' : 'at least '}on average 400 ms of 600 ms (66.7 %), in ` +
        'MPI_Allreduce at solve.c:40. It works 400 ms longer, in solve (solve.c:12) (600 ms; the others: 200 ms). ' +
        'Divide the work evenly, by the time that it takes: that saves up to 300 ms (50.0 %).',
    );
    t.deepEqual(kinds, ['late-ranks', 'code']);
    t.like(of('code').places[0], { coreShare: 0.5, coreNs: 1200 * ms });
  });

test('one rank alone runs a procedure while the others wait: the saving is its time less its part', async (t) => {
  const parts = (rank: number): Part[] =>
    times(10, () => [...(rank === 0 ? [works(30, 'assemble')] : []), meets, works(20, 'solve'), meets]);
  const { of, words } = await limits(
    (errors) => t.is(errors, ''),
    job([0, 1, 2].map((rank) => ({ parts: parts(rank) }))),
  );
  t.like(of('late-ranks'), { ranks: [0], costNs: 300 * ms, savingNs: 200 * ms });
  t.like(of('late-ranks').extra, { form: 'alone', ns: 300 * ms });
  t.regex(
    words('late-ranks'),
    /Only this rank runs assemble \(solve\.c:30\), for 300 ms\. Divide that over the 3 ranks/,
  );
});

test('input and output of one rank', async (t) => {
  const parts = (rank: number): Part[] =>
    times(10, () => [works(20, 'solve'), ...(rank === 2 ? [reads(30, 'store', 'fsync')] : []), meets]);
  const { of, words } = await limits(
    (errors) => t.is(errors, ''),
    job([0, 1, 2].map((rank) => ({ parts: parts(rank) }))),
  );
  t.like(of('late-ranks'), { ranks: [2], costNs: 300 * ms, savingNs: 200 * ms });
  t.regex(
    words('late-ranks'),
    /It waits longer for store \(solve\.c:50\) \(300 ms; the others: 0\)\. Divide that over/,
  );
});

test('a chain of messages: the cause is the first rank, not the ones that wait for it themselves', async (t) => {
  const parts = (rank: number): Part[] =>
    times(10, () => [
      works(rank === 0 ? 40 : 10, 'solve'),
      ...(rank > 0 ? [gets(rank - 1)] : []),
      ...(rank < 3 ? [puts(rank + 1)] : []),
      meets,
    ]);
  const ranks = [0, 1, 2, 3].map((rank) => ({ parts: parts(rank) }));
  const { kinds, of, words } = await limits((errors) => t.is(errors, ''), job(ranks));
  t.deepEqual(kinds, ['late-ranks', 'code']);
  t.like(of('late-ranks'), { ranks: [0], waiting: 3, costNs: 300 * ms, savingNs: 225 * ms, indirectNs: 200 * ms });
  t.like(of('late-ranks').calls[0], { pattern: 'late sender', until: { name: 'MPI_Send' } });
  t.regex(
    words('late-ranks'),
    /in MPI_Recv at pipe\.c:7, .*MPI_Send, 200 ms of it for ranks that themselves wait for it\./,
  );
});

test('ranks that are late in turn are not blamed: meetings, and messages', async (t) => {
  const inTurn = [0, 1].map((rank) => ({
    parts: times(10, (round) => [works(round % 2 === rank ? 60 : 20, 'solve'), meets]),
  }));
  const met = await limits((errors) => t.is(errors, ''), job(inTurn));
  t.deepEqual(met.kinds, ['varying', 'code']);
  t.like(met.of('varying'), { messages: false, savingNs: 200 * ms });
  t.regex(
    met.words('varying'),
    /^Different ranks are late at different times: .* On average 1\.3 of 2 ranks are at work\./,
  );
  const ball = [0, 1].map((rank) => ({
    parts: times(10, () =>
      rank === 0 ? [works(20, 'solve'), puts(1), gets(1)] : [gets(0), works(20, 'solve'), puts(0)],
    ),
  }));
  const passed = await limits((errors) => t.is(errors, ''), job(ball));
  t.deepEqual(passed.kinds, ['varying', 'code']);
  t.like(passed.of('varying'), { messages: true, savingNs: 200 * ms, atWork: 1 });
  t.regex(passed.words('varying'), /^Ranks wait in turn for each other's messages/);
});

test('ranks of one host: all that they do takes longer', async (t) => {
  const ranks = [0, 1, 2, 3].map((rank) => {
    const factor = rank < 2 ? 1 : 1.5;
    return {
      host: rank < 2 ? 'fast' : 'slow',
      parts: times(10, () => [works(20 * factor, 'solve'), works(20 * factor, 'assemble'), meets]),
    };
  });
  // no rank is exactly as late as another one
  ranks[2]!.parts.unshift(works(1, 'solve'), meets);
  ranks[3]!.parts.unshift(works(2, 'solve'), meets);
  ranks[0]!.parts.unshift(meets);
  ranks[1]!.parts.unshift(meets);
  ranks.forEach(({ parts }, rank) => parts.push(works(rank === 2 ? 2 : 1, 'solve'), meets));
  const { of, words } = await limits((errors) => t.is(errors, ''), job(ranks));
  t.like(of('late-ranks'), { host: 'slow', ranks: [2, 3], waiting: 2 });
  t.like(of('late-ranks').extra, { form: 'work' });
  t.regex(
    words('late-ranks'),
    /^The 2 ranks on slow are late: .* All procedures take about 1\.5\d times as long there:/,
  );
});

test('communication, where nobody is late; balanced ranks; a rank that waits for CPUs', async (t) => {
  const even = uneven([20, 20]);
  const talks = await limits((errors) => t.is(errors, ''), job(even, 10));
  t.deepEqual(talks.kinds, ['communication', 'balanced', 'code']);
  t.like(talks.of('communication'), { costNs: 100 * ms, sampled: false });
  t.regex(talks.words('communication'), /though no rank is late there: in MPI_Allreduce at solve\.c:40\./);
  const balanced = await limits((errors) => t.is(errors, ''), job(even));
  t.deepEqual(balanced.kinds, ['balanced', 'code']);
  t.regex(balanced.words('balanced'), /on average they wait 0 of 200 ms \(0 %\) for ranks that are late/);
  const starved = await limits(
    (errors) => t.is(errors, ''),
    job(
      even.map(({ parts }, k) => ({
        parts: [...parts, { ms: 100, doing: ready('main', ['main']) }],
        cpuWaitMs: k === 0 ? 80 : 20,
      })),
    ),
  );
  t.deepEqual(starved.kinds, ['cpus', 'balanced', 'code']);
  t.like(starved.of('cpus'), { rank: 0, costNs: 80 * ms, meanNs: 50 * ms, ranksOnHost: 2 });
});

test('processes that do not wait for each other: the one that ends last', async (t) => {
  const { kinds, of } = await limits(
    (errors) => t.is(errors, ''),
    job([100, 100, 400].map((own) => ({ parts: [works(own, 'solve')] }))),
  );
  t.deepEqual(kinds, ['last-rank', 'code']);
  t.like(of('last-rank'), { rank: 2, costNs: 300 * ms, savingNs: 200 * ms, endNs: 400 * ms });
  t.like(of('last-rank').extra, { form: 'work', longerNs: 300 * ms });
});

test('what limits a rank within its process comes after the job, without what the job says', async (t) => {
  const finding = (kind: string, nth: number) => ({
    kind,
    cost_ns: 50 * ms * nth,
    saving_ns: 1,
    text: `It is ${kind}.`,
    remedy: '',
  });
  const sources = sourcesOf(jobOf([100, 300])).map((source, rank) => ({
    ...source,
    findings: () =>
      rank === 1 ? [finding('optimize', 1), finding('processes', 2), finding('io', 3)] : [finding('serial', 4)],
  }));
  const { kinds, words } = await limits((errors) => t.is(errors, ''), sources);
  t.deepEqual(kinds, ['late-ranks', 'within-rank', 'code']);
  t.is(words('within-rank'), 'Within rank 1: It is io. quartz report solver.1.quartz says more.');
});

test('findings about more waiting than there is say so, and those of ranks without CPUs', (t) => {
  const finding = (kind: Kind, savingMs: number): JobFinding =>
    ({ kind, costNs: savingMs * 1e6, savingNs: savingMs * 1e6 }) as JobFinding;
  const late = finding('late-ranks', 300),
    varying = finding('varying', 200);
  const words = (findings: JobFinding[], waitingMs: number): string[] =>
    overlapsOf(findings, waitingMs * 1e6).map((one) => overlapSentence(one, { ascii: false }));
  t.deepEqual(words([late, varying], 500), []);
  t.deepEqual(words([late], 100), []);
  t.deepEqual(words([finding('cpus', 400), late], 300), [
    'Findings 1 and 2 may overlap: a rank that waits for CPUs comes late, too.',
  ]);
  t.deepEqual(words([late, finding('code', 9), varying], 400), [
    'Findings 1 and 3 overlap, as threads of a rank wait at the same time: together they are about 500 ms, but a ' +
      'rank waits 400 ms in MPI on average.',
  ]);
});
