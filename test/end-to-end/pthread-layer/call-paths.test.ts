/** Call paths of programs without hooks, and names of objects that the program does not name. */
import { join } from 'node:path';
import test from 'ava';
import { findEntities, type Entity, type Model } from '../../../ts-frontend/src/model/index.js';
import { root } from '../../support/root.js';
import { openModel, record, sampler, start, temporaryFile, until } from '../../support/record.js';
import { needing, skip } from '../../support/capabilities.js';
import { dividesItsWork, near, object, onPath, program } from './helpers.js';

/** Names along a path, innermost last. */
const names = (model: Model, path: readonly number[]): string => path.map((id) => model.entities[id]!.name).join(' ');
function pathTo(model: Model, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at !== 0; at = model.raw.stacks.parent[at]!) path.unshift(model.raw.stacks.entity[at]!);
  return path;
}
const procedure = (model: Model, name: string): Entity => {
  const entity = findEntities(model, name)
    .map((id) => model.entities[id]!)
    .find(({ kind }) => kind === 'procedure');
  if (!entity)
    throw new Error(`${name} is not there: ${model.entities.map((each) => `${each.kind} ${each.name}`).join(', ')}`);
  return entity;
};

needing('process_vm_readv')(
  'without hooks: call paths of waits, of sleep, of work, and locks where they were taken',
  async (t) => {
    const { model } = await record(program('paths'));
    const { paths } = model.head;
    t.deepEqual([paths.waits, paths.noMemory, paths.noCalls], [true, false, false]);
    const join = model.entities.find(({ kind, rawKind }) => kind !== 'thread' && rawKind === 'join')!;
    t.true(
      join.object!.waiters.some(({ path }) => /^main wait_for_all /.test(names(model, path))),
      'main waits in wait_for_all',
    );
    // most of the waits: a walk is useless if its thread has continued in the meantime, which happens if others have
    // the CPUs
    const { waiters } = object(model, 'store').object,
      waits = (of: RegExp): number =>
        waiters.reduce((sum, { path, ns }) => sum + (of.test(names(model, path)) ? ns : 0), 0);
    t.true(waits(/worker deposit store$/) > 0.8 * waits(/./), waiters.map(({ path }) => names(model, path)).join('; '));
    t.true(
      procedure(model, 'nap').states.io.ns > 250e6,
      `asleep in nap: ${procedure(model, 'nap').states.io.ns / 1e6} ms`,
    );
    t.deepEqual(
      [procedure(model, 'deposit').callsCounted, procedure(model, 'worker').calls],
      [false, 2],
      'calls of a start routine are its threads',
    );
    if (paths.noSamples) {
      skip(t, 'perf_event_open is refused: no procedures of running threads');
      return;
    }
    const ran = (name: string): number => procedure(model, name).processorTimeNs;
    dividesItsWork(t, model, ran, 0.1);
    const inside = (lock: string, of: string): number =>
      model.raw.tuples.stack.reduce((sum, stack, k) => {
        const path = names(model, pathTo(model, stack));
        return sum + (new RegExp(`${lock}.* ${of}`).test(path) ? model.raw.tuples.ns[k]! : 0);
      }, 0);
    t.true(inside('deposit store', 'fill') > 0.6 * ran('fill'), 'fill runs under store, which deposit took');
    t.true(inside('worker ledger', 'write_down enter') > 0.5 * ran('enter'), 'a wrapper took ledger and has returned');
  },
);

test.serial(
  'where the kernel gives no samples and no memory, the report says so, and locks stand with who took them',
  async (t) => {
    const file = temporaryFile('denied.quartz');
    const { status, stderr } = await start(join(root, 'build/test/support/denied'), [
      'perf_event_open,process_vm_readv',
      sampler,
      'record',
      '-q',
      '--no-signals',
      '-o',
      file,
      '--',
      program('paths'),
    ]).ended;
    t.is(status, 0, stderr);
    const model = openModel(file);
    t.deepEqual([model.head.paths.noSamples, model.head.paths.noMemory, model.head.paths.running], [true, true, false]);
    const forbidden = model.notices.flatMap((notice) => (notice.form === 'forbidden' ? [notice.what] : []));
    t.deepEqual(forbidden, ['samples', 'memory']);
    t.true(
      model.entities.some(
        ({ name, kind, processorTimeNs }) => kind === 'procedure' && name === 'deposit' && processorTimeNs > 0,
      ),
    );
  },
);

needing('process_vm_readv')(
  'waits past the pthread functions: named by variable or place, with their paths',
  async (t) => {
    const { model, stdout } = await record(program('futexes'));
    const [gateNs, routineNs, streamNs] = stdout.split(' ').map((ms) => Number(ms) * 1e6) as [number, number, number];
    const gate = object(model, 'gate');
    t.is(gate.rawKind, 'futex');
    t.false(gate.object.counted);
    near(t, model, 'at the gate', gate.object.waitNs, gateNs, 0.2);
    t.true(
      gate.object.waiters.some(({ path }) => names(model, path).includes('pass_gate')),
      'the gate is waited for in pass_gate',
    );
    t.regex(gate.file, /futexes\.cc$/);
    const [once] = model.entities.filter(({ rawKind }) => rawKind === 'once');
    t.is(once?.name, 'flag');
    near(t, model, 'for the one that runs the routine', once!.object!.waitNs, routineNs, 0.2);
    const heap = model.entities.filter(
      ({ rawKind, name, id }) => rawKind === 'futex' && name !== 'gate' && id !== gate.id,
    );
    t.true(
      heap.some(
        ({ object: its }) => its !== null && its.waiters.some(({ path }) => /main.*lambda/.test(names(model, path))),
      ),
      'one on the heap, by place',
    );
    const stream = model.entities.find(
      ({ rawKind, name, id, group }) =>
        rawKind === 'futex' && id !== group && /^_*(IO_)?fflush at futexes\.cc:/.test(name),
    );
    t.truthy(stream, "the lock of a stream is known by what the program called, not by the C library's variable");
    near(t, model, 'for the stream', onPath(stream!), streamNs, 0.3);
    t.is(stream!.libraryWait, 'lock');
  },
);

test.serial('attached: threads that were met while they ran, by their paths', async (t) => {
  const layer = join(root, 'build/pthread-layer/libquartz-pthread.so');
  const met = start(program('attach_with_locks'), [], { LD_PRELOAD: layer, QUARTZ_ATTACH: '1' });
  await until('the threads ran', () => met.stdout() === 'ready\n');
  const file = temporaryFile('met.quartz');
  const attached = await start(sampler, ['attach', '-o', file, '--seconds', '2', String(met.child.pid)]).ended;
  met.child.kill();
  t.is((await met.ended).signal, 'SIGTERM');
  t.is(attached.status, 0, attached.stderr);
  const model = openModel(file);
  t.true(object(model, 'lock').object.acquisitions > 0);
  t.is(model.slowdown.commandNs, 0); // no command started it
  // By the kernel's clock a sample takes 4 ms of processor time.
  if (model.root.processorTimeNs < 200e6) skip(t, 'other programs had the CPUs');
  else if (model.head.paths.running && !model.head.paths.fewSamples)
    t.true(procedure(model, 'compute').states.useful.ns > procedure(model, 'take').states.useful.ns);
});

test.serial(
  'attached: threads that compute, wait or sleep for long are seen at once, though they call nothing',
  async (t) => {
    const layer = join(root, 'build/pthread-layer/libquartz-pthread.so');
    const already = start(program('attach_while_busy'), [], { LD_PRELOAD: layer, QUARTZ_ATTACH: '1' });
    await until('the threads ran', () => already.stdout() === 'ready\n');
    const file = temporaryFile('already.quartz');
    const attached = await start(sampler, ['attach', '-o', file, '--seconds', '3', String(already.child.pid)]).ended;
    already.child.kill();
    t.is((await already.ended).signal, 'SIGTERM');
    t.is(attached.status, 0, attached.stderr);
    const model = openModel(file);
    const thread = (name: string) => {
      const found = model.entities.find((entity) => entity.kind === 'thread' && entity.name === name);
      t.truthy(
        found,
        `${name} is among ${model.entities
          .filter(({ kind }) => kind === 'thread')
          .map((entity) => entity.name)
          .join(', ')}`,
      );
      return found!.states;
    };
    const mostly = (name: string, ...states: ('useful' | 'ready' | 'blocked' | 'io')[]): void => {
      t.true(
        states.reduce((ns, state) => ns + thread(name)[state].ns, 0) > 0.8 * model.elapsedNs,
        `${name}: ${JSON.stringify(thread(name))}`,
      );
    };
    const known = !model.head.paths.noCalls; // whether the kernel says in which system call a thread sleeps
    mostly('computes', 'useful', 'ready');
    mostly('idle-worker', 'blocked', ...(known ? [] : ['io' as const]));
    mostly('sleeps', 'io');
    mostly('main', 'blocked', ...(known ? [] : ['io' as const]));
    t.is(model.entities.filter(({ kind, id }) => kind === 'thread' && id !== 0).length, 4, 'and no others');
    if (known)
      t.truthy(
        model.entities.find(({ rawKind, name }) => rawKind === 'futex' && name.startsWith('never')),
        'the condition is known by its variable',
      );
  },
);

test.serial('names that nobody gave: threads by what they run, locks by the part of a variable', async (t) => {
  const { model } = await record(program('derived_names'));
  const threads = new Set(
    model.entities.filter(({ kind, id }) => kind === 'thread' && id !== 0).map(({ name }) => name),
  );
  t.deepEqual([...threads].sort(), ['Server::serve', 'by-prctl', 'main', 'main::{lambda()#1}', 'plain']);
  t.is(object(model, 'cache.lock').object.acquisitions, 80);
  t.is(object(model, 'table[3].inner.lock').object.acquisitions, 80);
  const join = model.entities.find(({ rawKind }) => rawKind === 'join')!;
  t.regex(join.file, /names\.cc$/, 'the place of a std::thread::join is in the program');
});

// The walk from the library's code to the program reads the thread's stack.
needing('process_vm_readv')('locks taken through code of libraries have their place in the program', async (t) => {
  const { model } = await record(program('wrapped_locks'));
  const places = new Map<string, number>();
  for (const { rawKind, members, file, line, object: stats } of model.entities)
    if (rawKind === 'mutex' && members.length === 0 && (stats?.acquisitions ?? 0) > 0) {
      const place = `${file.slice(file.lastIndexOf('/') + 1)}:${line}`;
      places.set(place, (places.get(place) ?? 0) + 1);
    }
  t.is(places.get('wrapped_locks.cc:201'), 400, JSON.stringify([...places]));
  t.is(places.get('wrapped_locks.cc:205'), 1, JSON.stringify([...places]));
});
