/** System time of entities, and the finding about it, from profiles made by hand. */
import test from 'ava';
import { buildModel, noPaths, type Finding, type Model } from '../../../../ts-frontend/src/model/index.js';
import { Purpose } from '../../../../ts-frontend/src/model/profile/abi.js';
import { factsOf, nameOf } from '../../../support/facts.js';
import { inKernel, io, ProfileBuilder, ready, run, spin, wait } from '../../../support/profile-builder.js';

const usage = {
  publisher: 'pthread' as const,
  paths: { ...noPaths, running: true, kernel: true },
  usageKnown: true,
  usageNs: 1e9,
  userNs: 0.5e9,
  systemNs: 0.5e9,
  minorFaults: 100_000,
  residentBytes: 10_000 * 4096,
};
/** One thread for a second, `part` of it in the kernel. */
function model(part: number, work: 'memory' | 'fault' | 'write', head: object = {}): Model {
  const builder = new ProfileBuilder({ processors: 1, head: { ...usage, ...head } });
  builder.stretch(part * 1e9, [inKernel(work, 'main', ['main', 'fill'])]);
  builder.stretch((1 - part) * 1e9, [run('main', ['main', 'compute'])]);
  return buildModel(builder.build());
}
const kernelFinding = (of: Model): Model['findings'][number] | undefined =>
  of.findings.find(({ kind }) => kind === 'kernel');

test('system time of each procedure, its callers, its thread and the program', (t) => {
  const its = model(0.4, 'fault');
  const named = (name: string): number | null => its.entities.find((entity) => entity.name === name)!.systemNs;
  t.is(its.root.systemNs, 0.4e9);
  t.is(named('fill'), 0.4e9);
  t.is(named('main'), 0.4e9);
  t.is(named('compute'), 0);
  t.is(model(0.4, 'fault', { paths: noPaths }).root.systemNs, null);
});

test('page faults for memory that was there before are saved, and no others', (t) => {
  const finding = kernelFinding(model(0.5, 'fault'));
  t.is(finding?.name, 'fill');
  t.is(finding?.costNs, 0.5e9);
  t.is(Math.round(finding!.savingNs), 0.45e9); // nine of ten faults
  const first = kernelFinding(model(0.5, 'fault', { residentBytes: 100_000 * 4096 }));
  t.is(Math.round(first!.savingNs), 0.35e9); // huge pages: the cost of clearing them remains
});

test('code where a quarter of the time is page faults waits for new memory besides: reuse may save that, too', (t) => {
  const saves = (again: boolean): number[] => {
    const builder = new ProfileBuilder({
      processors: 1,
      head: { ...usage, residentBytes: (again ? 10_000 : 100_000) * 4096 },
    });
    builder.stretch(0.4e9, [inKernel('fault', 'main', ['main', 'fill'])]);
    builder.stretch(0.3e9, [run('main', ['main', 'fill'])]); // waits for memory
    builder.stretch(0.01e9, [inKernel('fault', 'main', ['main', 'scan'])]);
    builder.stretch(0.19e9, [run('main', ['main', 'scan'])]); // 5 % of it are faults: it has other work
    builder.stretch(0.1e9, [run('main', ['main', 'compute'])]);
    const { leastNs, savesNs } = factsOf(kernelFinding(buildModel(builder.build())), 'kernel-work');
    return [leastNs, savesNs].map((ns) => Math.round(ns / 1e6));
  };
  t.deepEqual(saves(true), [0, 639], '0.9 of 410 ms of faults, and of 300 ms beside them');
  t.deepEqual(saves(false), [0, 287], 'memory that was not there before is not reused: larger pages save 0.7 of it');
});

test('page faults of memory that a copy is written to: the copy is named, with all that it takes', (t) => {
  const builder = new ProfileBuilder({ processors: 1, head: usage });
  builder.stretch(0.1e9, [inKernel('memory', 'main', ['main', 'keep', 'malloc'])]);
  builder.stretch(0.3e9, [inKernel('fault', 'main', ['main', 'Track::Track', 'memcpy'])]);
  builder.stretch(0.3e9, [run('main', ['main', 'Track::Track', 'memcpy'])]);
  builder.stretch(0.3e9, [run('main', ['main', 'draw'])]).describe('memcpy', { origin: 'runtime' });
  builder.describe('malloc', { origin: 'runtime', purposes: Purpose.decided | Purpose.allocator });
  const model = buildModel(builder.build());
  const [first, ...others] = model.findings.filter(({ kind }) => kind !== 'serial');
  t.deepEqual([first?.kind, first?.name], ['kernel', 'Track::Track']);
  t.is(nameOf(model, factsOf(first, 'kernel-work').called), 'memcpy', 'what copies, not what maps memory');
  t.deepEqual(
    [first!.costNs, first!.savingNs, factsOf(first, 'kernel-work').copyingNs].map((ns) => Math.round(ns! / 1e6)),
    [600, 600, 600],
  );
  // the allocator gives memory back: 0.9 of the page faults, and of the mapping, were for memory used before
  t.is(Math.round(factsOf(first, 'kernel-work').keptNs! / 1e6), 360);
  t.false(
    others.some(({ name }) => name === 'Track::Track'),
    'one cause, one finding',
  );
});

test('code that mostly copies memory: the advice is to copy less', (t) => {
  const builder = new ProfileBuilder({ processors: 1, head: { ...usage, minorFaults: 0 } });
  builder.stretch(0.6e9, [run('main', ['main', 'Track::Track', 'memcpy'])]);
  builder.stretch(0.1e9, [run('main', ['main', 'Track::Track'])]);
  builder.stretch(0.3e9, [run('main', ['main', 'draw'])]).describe('memcpy', { origin: 'runtime' });
  const { copyingNs } = factsOf(
    buildModel(builder.build()).findings.find(({ kind }) => kind === 'optimize'),
    'optimize',
  );
  t.is(Math.round(copyingNs!), 0.6e9);
});

test('writes of few bytes are reported, large ones are not; nor what is less than a twentieth', (t) => {
  const few = { callsKnown: true, writeCalls: 1_000_000, writtenBytes: 16e6 };
  t.is(Math.round(kernelFinding(model(0.5, 'write', few))!.savingNs), 0.5e9 * (1 - 16 / 4096));
  t.is(kernelFinding(model(0.5, 'write', { ...few, writtenBytes: 1e12 })), undefined);
  t.is(kernelFinding(model(0.04, 'write', few)), undefined);
});

test('small reads and writes are made larger together: one finding, with what its procedure does for each', (t) => {
  const moved = { callsKnown: true, readCalls: 1e6, readBytes: 1024e6, writeCalls: 1e6, writtenBytes: 16e6 };
  const builder = new ProfileBuilder({ processors: 1, head: { ...usage, ...moved } });
  builder.stretch(0.4e9, [inKernel('read', 'main', ['main', 'copy'])]);
  builder.stretch(0.2e9, [inKernel('write', 'main', ['main', 'copy'])]);
  builder.stretch(0.2e9, [run('main', ['main', 'copy'])]);
  builder.stretch(0.2e9, [run('main', ['main', 'check'])]);
  const found = buildModel(builder.build()).findings.filter(({ kind }) => kind === 'kernel');
  t.is(found.length, 1);
  const { work, both, leastNs, savesNs } = factsOf(found[0], 'kernel-work');
  t.deepEqual([work, both], ['read', { count: 1e6, bytesEach: 16 }]);
  const least = 0.4e9 * 0.75 + 0.2e9 * (1 - 16 / 4096); // a quarter of the reads remains
  t.is(Math.round(found[0]!.costNs), 0.6e9);
  t.deepEqual([leastNs, savesNs].map(Math.round), [least, (0.8 / 0.6) * least].map(Math.round));
});

test('reads and writes of two procedures: what both do besides may be once per call', (t) => {
  const moved = { callsKnown: true, readCalls: 1e6, readBytes: 16e6, writeCalls: 1e6, writtenBytes: 16e6 };
  const builder = new ProfileBuilder({ processors: 1, head: { ...usage, ...moved } });
  builder.stretch(0.4e9, [inKernel('read', 'main', ['main', 'fetch'])]);
  builder.stretch(0.3e9, [inKernel('write', 'main', ['main', 'put'])]);
  builder.stretch(0.1e9, [run('main', ['main', 'fetch'])]);
  builder.stretch(0.1e9, [run('main', ['main', 'put', 'format'])]);
  builder.stretch(0.1e9, [run('main', ['main', 'check'])]);
  const [finding] = buildModel(builder.build()).findings.filter(({ kind }) => kind === 'kernel');
  const { leastNs, savesNs } = factsOf(finding, 'kernel-work');
  const part = 1 - 16 / 4096;
  t.deepEqual([leastNs, savesNs].map(Math.round), [0.7e9 * part, 0.9e9 * part].map(Math.round));
});

test('as many small writes as reads on connections answer requests: nothing for a buffer to gather', (t) => {
  const moved = { callsKnown: true, readCalls: 1e6, readBytes: 16e6, writeCalls: 0.9e6, writtenBytes: 16e6 };
  const facts = (change: object): { replies: boolean; leastNs: number; savesNs: number } => {
    const builder = new ProfileBuilder({ processors: 1, head: { ...usage, ...moved, ...change } });
    builder.stretch(0.4e9, [inKernel('read', 'main', ['main', 'answer'])]);
    builder.stretch(0.4e9, [inKernel('write', 'main', ['main', 'answer'])]);
    builder.stretch(0.2e9, [run('main', ['main', 'answer'])]);
    const [finding] = buildModel(builder.build()).findings.filter(({ kind }) => kind === 'kernel');
    const { replies, leastNs, savesNs } = factsOf(finding, 'kernel-work');
    return { replies, leastNs: Math.round(leastNs), savesNs: Math.round(savesNs) };
  };
  const connected = { socketsSeen: true, connected: true };
  t.deepEqual(facts(connected), { replies: true, leastNs: 0.4e9, savesNs: 0.72e9 });
  t.true(facts({ socketsSeen: true, listens: true }).replies);
  t.false(facts({ socketsSeen: true }).replies, 'files or pipes');
  t.false(facts({ ...connected, writeCalls: 1e5 }).replies, 'ten reads for each write');
  t.false(facts({ ...connected, readBytes: 1e10 }).replies, 'large reads');
});

test('reads and writes of a few bytes for which threads sleep are wake-ups, and waiting for them is part', (t) => {
  const woken = {
    ...{ callsKnown: true, readCalls: 1e6, readBytes: 8e6, writeCalls: 0.9e6, writtenBytes: 0.9e6 },
    ...{ switchesKnown: true, voluntarySwitches: 0.8e6 },
  };
  const finding = (change: object, reader = 'other'): Finding | undefined => {
    const builder = new ProfileBuilder({ processors: 2, head: { ...usage, ...woken, ...change } });
    builder.stretch(0.3e9, [inKernel('read', reader, ['main', 'receive'])]);
    builder.stretch(0.2e9, [inKernel('poll', reader, ['main', 'receive'])]);
    builder.stretch(0.3e9, [inKernel('write', 'main', ['main', 'send'])]);
    builder.stretch(0.2e9, [run('main', ['main', 'send'])]);
    return buildModel(builder.build()).findings.find(({ kind }) => kind === 'kernel');
  };
  const facts = (change: object, reader?: string): { wakes: number | null; replies: boolean; costNs: number } => {
    const its = finding(change, reader);
    const { wakes, replies } = factsOf(its, 'kernel-work');
    return { wakes, replies, costNs: Math.round(its!.costNs) };
  };
  t.deepEqual(facts({}), { wakes: 0.8e6, replies: false, costNs: 0.8e9 });
  const { leastNs, savesNs } = factsOf(finding({}), 'kernel-work');
  t.deepEqual([leastNs, savesNs].map(Math.round), [0.8e9, 0.8e9], 'one thread for both makes none of these calls');
  t.false(facts({ socketsSeen: true, connected: true }).replies, 'neither does it answer requests');
  for (const [change, why] of [
    [{ voluntarySwitches: 1000 }, 'threads find what they read, without sleeping'],
    [{ switchesKnown: false }, 'not known whether they sleep'],
    [{ readBytes: 16e6 }, 'data'],
    [{ readCalls: 3e6 }, 'three reads for each write'],
  ] as const)
    t.deepEqual(facts(change), { wakes: null, replies: false, costNs: 0.6e9 }, why);
  t.is(facts({}, 'main').wakes, null, 'one thread cannot wake itself');
});

test('time in which nothing runs belongs to wake-ups by reads and writes, unless it is longer than these take', (t) => {
  const woken = { callsKnown: true, readBytes: 0, writtenBytes: 0, switchesKnown: true, socketsSeen: true };
  const measured = (calls: number, connected = false): { forms: string[]; saves: number[] } => {
    const counts = { readCalls: calls, writeCalls: calls, voluntarySwitches: calls, connected };
    const builder = new ProfileBuilder({ processors: 2, head: { ...usage, ...woken, ...counts } });
    const asleep = (thread: string): ReturnType<typeof io> => io(thread, ['main', 'receive', 'epoll_wait']);
    builder.stretch(0.3e9, [inKernel('read', 'other', ['main', 'receive']), asleep('main')]);
    builder.stretch(0.1e9, [run('main', ['main', 'send']), asleep('other')]);
    builder.stretch(0.5e9, [asleep('main'), asleep('other')]);
    const raw = builder.build();
    const isCall = (name: string): boolean => name === 'epoll_wait';
    raw.entities.forEach((entity) => {
      if (isCall(entity.name)) Object.assign(entity, { origin: 'standard', purposes: Purpose.requests });
    });
    const { findings } = buildModel(raw);
    const its = factsOf(
      findings.find(({ kind }) => kind === 'kernel'),
      'kernel-work',
    );
    const forms = findings.map(({ facts }) => facts.form).filter((form) => form === 'io' || form === 'kernel-work');
    return { forms, saves: [its.leastNs, its.savesNs].map(Math.round) };
  };
  t.deepEqual(measured(100_000), { forms: ['kernel-work'], saves: [0.8e9, 0.8e9] });
  t.deepEqual(measured(100_000, true), { forms: ['kernel-work'], saves: [0.8e9, 0.8e9] }, 'no replies of others');
  const why = '0.5 ms for each: a time limit has to expire';
  t.deepEqual(measured(1000), { forms: ['io', 'kernel-work'], saves: [0.15e9, 0.27e9] }, why);
});

test('a program that others kept from the CPUs has the same part of its work in the kernel', (t) => {
  const builder = new ProfileBuilder({ processors: 1, head: { ...usage, cpuRunNs: 0.2e9, cpuWaitNs: 0.8e9 } });
  builder.stretch(0.1e9, [inKernel('fault', 'main', ['main', 'fill'])]);
  builder.stretch(0.1e9, [run('main', ['main', 'compute'])]);
  builder.stretch(0.8e9, [ready('main', ['main', 'fill'])]);
  const finding = kernelFinding(buildModel(builder.build()));
  t.is(finding?.name, 'fill');
  t.true(Math.abs(finding!.costNs - 0.9e9) <= 0.02e9, "the thread's other work counts a little");
});

test('code that takes more than the kernel does comes first', (t) => {
  const kinds = (part: number): string[] => model(part, 'fault').findings.map(({ kind }) => kind);
  t.deepEqual(kinds(0.2), ['optimize', 'kernel']);
  t.is(kinds(0.6)[0], 'kernel');
});

test('code that takes much more than what the kernel does for it is compared, also where threads hand over', (t) => {
  const names = ['main', 'w'];
  const builder = new ProfileBuilder({ processors: 2, head: usage });
  builder.stretch(
    0.06e9,
    names.map((thread) => inKernel('futex', thread, ['main', 'next'])),
  );
  builder.stretch(
    0.12e9,
    names.map((thread) => inKernel('fault', thread, ['main', 'match'])),
  );
  builder.stretch(
    0.6e9,
    names.map((thread) => run(thread, ['main', 'match'])),
  );
  builder.stretch(
    0.22e9,
    names.map((thread) => wait(thread, ['main', 'condition:more'])),
  );
  const { findings } = buildModel(builder.build());
  const [code, kernel] = ['optimize', 'kernel'].map((its) => findings.findIndex(({ kind }) => kind === its));
  t.is(findings[code!]?.name, 'match');
  t.is(findings[kernel!]?.name, 'match');
  t.true(code! < kernel!);
});

test('what the kernel does for code has one finding: the code itself is reported without it', (t) => {
  const builder = new ProfileBuilder({ processors: 2, head: usage });
  const both = (kernel: 'fault' | 'none', name: string): ReturnType<typeof inKernel>[] =>
    ['a', 'b'].map((thread) => inKernel(kernel, thread, ['work', name]));
  builder.stretch(0.6e9, both('fault', 'fill')).stretch(0.2e9, both('none', 'fill'));
  builder.stretch(0.2e9, both('none', 'compute'));
  const { findings } = buildModel(builder.build());
  t.deepEqual([findings[0]?.kind, findings[0]?.name], ['kernel', 'fill']);
  const code = findings.find(({ kind }) => kind === 'optimize');
  t.is(Math.round(code!.costNs), 0.2e9);
});

test('yields between pieces of work: without them; yields one after another are waiting, and no such work', (t) => {
  const yields = (waiting: number): Model => {
    const builder = new ProfileBuilder({ processors: 2, head: usage });
    builder.describe('sched_yield', { origin: 'runtime' });
    const path = ['serve', 'look_up', 'sched_yield'];
    builder.stretch(0.4e9, [inKernel('yield', 'a', path), inKernel('yield', 'b', path)]);
    if (waiting > 0)
      builder.stretch(waiting, [{ ...spin('a', [...path, 'mutex:line']), kernel: 'yield' }, run('b', ['serve'])]);
    builder.stretch(0.6e9, [run('a', ['serve', 'look_up']), run('b', ['serve', 'look_up'])]);
    return buildModel(builder.build());
  };
  const finding = kernelFinding(yields(0));
  t.deepEqual([finding?.name, factsOf(finding, 'kernel-work').work], ['look_up', 'yields']);
  t.is(Math.round(finding!.savingNs), 0.4e9);
  t.is(kernelFinding(yields(0.3e9)), undefined);
});

test('flushes to a disk are reported as that, and not as serial code whose caller could be divided', (t) => {
  const builder = new ProfileBuilder({ processors: 2, head: usage });
  builder.describe('fdatasync', { origin: 'runtime', purposes: Purpose.decided | Purpose.device });
  builder.stretch(0.6e9, [inKernel('call', 'main', ['main', 'append', 'fdatasync'])]);
  builder.stretch(0.4e9, [run('main', ['main', 'serve'])]);
  const { findings } = buildModel(builder.build());
  const flush = findings.find(({ facts }) => facts.form === 'kernel-work');
  t.deepEqual([factsOf(flush, 'kernel-work').work, flush?.name], ['flush', 'append']);
  t.is(Math.round(flush!.savingNs), 0.54e9);
  t.false(findings.some(({ facts, name }) => facts.form === 'serial' && name === 'append'));
});

test('writes are flushes if all that threads were seen to sleep in were to files opened so', (t) => {
  const works = (head: object): Finding | undefined => {
    const builder = new ProfileBuilder({ processors: 2, head: { ...usage, ...head } });
    builder.describe('pwrite', { origin: 'runtime', purposes: Purpose.decided | Purpose.device });
    builder.stretch(0.3e9, [inKernel('write', 'main', ['main', 'commit', 'pwrite'])]);
    builder.stretch(0.4e9, [io('main', ['main', 'commit', 'pwrite'])]);
    builder.stretch(0.3e9, [run('main', ['main', 'insert'])]);
    return buildModel(builder.build()).findings.find(({ facts }) => facts.form === 'kernel-work');
  };
  const flush = works({ writesThrough: true });
  t.is(flush?.name, 'commit');
  const { work, through, leastNs, savesNs } = factsOf(flush, 'kernel-work');
  t.deepEqual([work, through, Math.round(leastNs / 1e6), Math.round(savesNs / 1e6)], ['flush', true, 270, 630]);
  t.is(works({}), undefined);
  t.is(works({ writesThrough: true, writesElsewhere: true }), undefined, 'which of them, nobody knows');
});

test('what flushes save goes up to the time, too, in which threads sleep in them and nothing runs', (t) => {
  const files = (call: string): { leastNs: number; savesNs: number } => {
    const builder = new ProfileBuilder({ processors: 2, head: usage });
    builder.describe('fdatasync', { origin: 'runtime', purposes: Purpose.decided | Purpose.device });
    builder.stretch(0.3e9, [inKernel('call', 'a', ['main', 'append', 'fdatasync'])]);
    builder.stretch(0.5e9, [io('a', ['main', 'append', call])]);
    builder.stretch(0.2e9, [run('a', ['main', 'serve'])]);
    const found = buildModel(builder.build()).findings.find(({ facts }) => facts.form === 'kernel-work');
    return factsOf(found, 'kernel-work');
  };
  const { leastNs, savesNs } = files('fdatasync');
  t.deepEqual([Math.round(leastNs / 1e6), Math.round(savesNs / 1e6)], [270, 720]); // 0.9 * 0.3, 0.9 * (0.3 + 0.5)
  t.is(Math.round(files('poll').savesNs / 1e6), 270); // sleeps elsewhere
});

test('while a thread works and others sleep in flushes, they would run without these: idle processors count', (t) => {
  const files = (beside: string): number => {
    const builder = new ProfileBuilder({ processors: 2, head: usage });
    builder.describe('fdatasync', { origin: 'runtime', purposes: Purpose.decided | Purpose.device });
    const flush = ['main', 'append', 'fdatasync'];
    builder.stretch(0.3e9, [inKernel('call', 'a', flush), inKernel('call', 'b', flush)]);
    const asleep = ['main', 'append', beside];
    builder.stretch(0.2e9, [run('a', ['main', 'serve']), io('b', asleep)]);
    builder.stretch(0.2e9, [run('b', ['main', 'serve']), io('a', asleep)]);
    builder.stretch(0.3e9, [inKernel('call', 'b', flush), io('a', asleep)]);
    const found = buildModel(builder.build()).findings.find(({ facts }) => facts.form === 'kernel-work');
    return Math.round(factsOf(found, 'kernel-work').savesNs / 1e6);
  };
  // 0.9 of what the kernel works (300 and 300 ms), and of half of the time in which one of two works
  t.is(files('fdatasync'), 720);
  t.is(files('poll'), 540, 'who sleeps elsewhere would not run');
});

test('flushes under a lock cost the time, too, in which its holder sleeps there and nothing else runs', (t) => {
  const logs = (outside: boolean): Finding | undefined => {
    const append = ['log', 'append', 'mutex:journal'],
      flush = [...append, 'fdatasync'],
      other = outside ? run('b', ['log', 'render']) : wait('b', append);
    const builder = new ProfileBuilder({ processors: 2, head: usage });
    builder.describe('fdatasync', { origin: 'runtime', purposes: Purpose.decided | Purpose.device });
    builder
      .stretch(0.1e9, [inKernel('call', 'a', flush), wait('b', append), wait('c', append)])
      .stretch(0.5e9, [io('a', flush), other, wait('c', append)])
      .stretch(0.4e9, [run('a', ['log', 'render']), run('b', ['log', 'render'])])
      .object('mutex:journal', { acquisitions: 1000, contended: 1000 });
    const { findings } = buildModel(builder.build());
    return findings.find(({ facts }) => facts.form === 'kernel-work');
  };
  const first = logs(false);
  const { held, work } = factsOf(first, 'kernel-work');
  t.deepEqual([work, first?.name, Math.round(first!.costNs / 1e6)], ['flush', 'append', 600]);
  t.deepEqual([Math.round(held!.kernelNs / 1e6), Math.round(first!.savingNs / 1e6)], [100, 540]);
  // while another thread works, that time is no part of it
  t.deepEqual([logs(true)?.costNs, factsOf(logs(true), 'kernel-work').held], [0.1e9, null]);
});
