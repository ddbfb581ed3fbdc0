/**
 * "What if" with known answers, of programs that do counted work in pieces, and print the processor time of each: the
 * same work takes more or less time from one moment to the next. Spans are compared as shares of the span of the same
 * run.
 */
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  checkInvariants,
  workSpanOf,
  type Model,
  type WhatIf,
  type WorkSpan,
} from '../../ts-frontend/src/model/index.js';
import { needing } from '../support/capabilities.js';
import { record } from '../support/record.js';
import { quartz } from '../support/run-quartz.js';
import { root } from '../support/root.js';

const programs = join(root, 'build/test/known-answers/path-programs');
const program = join(programs, 'what_if_package');

interface Measured {
  model: Model;
  span: WorkSpan;
  file: string;
  answers: readonly WhatIf[];
  /** Processor time of the program's pieces, ns. */
  pieces: Pieces;
}
type Pieces = (name: string) => number;
const piecesIn = (stdout: string): Pieces => {
  const ns = new Map([...stdout.matchAll(/^([a-z]) (\d+)$/gm)].map(([, name, its]) => [name!, Number(its)]));
  return (name) => ns.get(name) ?? NaN;
};
async function ask(
  t: ExecutionContext,
  args: string,
  whatIf: readonly string[],
  processors = 1,
  binary = program,
): Promise<Measured> {
  const { model, file, status, stdout, stderr } = await record(binary, {
    args: [args],
    processors,
    span: true,
    whatIf,
  });
  t.is(status, 0, stderr);
  const span = workSpanOf(model);
  if (span === null) throw new Error('no work and span were recorded');
  t.deepEqual(checkInvariants(model), [], 'among these: with factor 1 it is the span, with less it is no longer');
  return { model, span, file, answers: span.whatIf, pieces: piecesIn(stdout) };
}

/** A time by the pieces of the program, which explains them. */
type Due = (piece: Pieces) => number;
const branches =
  (a: number, b: number): Due =>
  (piece) =>
    piece('p') + Math.max(a * piece('a'), b * piece('b')) + piece('s');
const lock: Due = (piece) => piece('h') + Math.max(piece('r'), piece('c') + piece('d'));
const unordered: Due = (piece) => Math.max(piece('h') + piece('r'), piece('c') + piece('d'));
const first: Due = (piece) => piece('h') + piece('r');
const nested: Due = (piece) => Math.max(Math.max(piece('l'), piece('m')) + piece('e'), piece('o'));
const withoutLeafOfInner: Due = (piece) => Math.max(piece('m') + piece('e'), piece('o'));
const calls: Due = (piece) => piece('a') + piece('b');

// The second question is the first one with other factors, or of something else.
const cases: { name: string; args: string; span: Due; ask: Record<string, Due> }[] = [
  {
    name: 'the longer of two branches is free, or not',
    args: 'branches',
    span: branches(1, 1),
    ask: { a: branches(0, 1), b: branches(1, 0) },
  },
  {
    name: 'the longer takes 0.8 of its time; or as long',
    args: 'branches',
    span: branches(1, 1),
    ask: { 'a=0.8': branches(0.8, 1), 'a=1': branches(1, 1) },
  },
  {
    name: 'the shorter takes twice, and four times as long',
    args: 'branches',
    span: branches(1, 1),
    ask: { 'b=2': branches(1, 2), 'b=4': branches(1, 4) },
  },
  {
    name: 'what is spawned within what is spawned',
    args: 'nested',
    span: nested,
    ask: { inner: (piece) => piece('o'), leaf: (piece) => piece('m') + piece('e') },
  },
  {
    name: 'threads of one creator alone',
    args: 'nested',
    span: nested,
    ask: { 'leaf@inner': withoutLeafOfInner, outer: () => 0 },
  },
  {
    name: 'calls that begin no thread',
    args: 'calls',
    span: calls,
    ask: { a: (piece) => piece('b'), 'b=0.5': (piece) => piece('a') + 0.5 * piece('b') },
  },
  { name: 'nobody waits for a lock', args: 'lock', span: lock, ask: { narrow: unordered, comes_late: first } },
];
// Of the span. By the pieces: what the package does between them, and the host's share of a CPU, is in the span alone.
const tolerance = 0.1;
const toleranceByUnits = 0.15;

for (const { name, args, span: all, ask: asked } of cases)
  for (const processors of args === 'branches' ? [1] : [1, 2])
    test.serial(`what if: ${name}, on ${processors}`, async (t) => {
      checkPieces(t, await ask(t, args, Object.keys(asked), processors), all, Object.values(asked));
    });

/** Both by the kernel's count of processor time, which what other programs do changes as well. */
function checkPieces(
  t: ExecutionContext,
  { span, answers, pieces, file }: Measured,
  all: Due,
  expected: readonly Due[],
): void {
  answers.forEach(({ name, basis, spanNs, prediction }, k) => {
    const is = (spanNs ?? NaN) / span.spanNs;
    const due = (expected[k]?.(pieces) ?? NaN) / all(pieces);
    t.is(basis, 'exact', name);
    for (const { ns, lowNs, highNs } of prediction) t.true(lowNs <= ns && ns <= highNs);
    t.true(Math.abs(is - due) < tolerance * Math.max(1, due), `${name}: ${is}, not ${due} (${file})`);
  });
}

/** Against shares of the span that are due. */
function checkCase(t: ExecutionContext, { span, answers, file }: Measured, due: readonly number[]): void {
  answers.forEach(({ name, basis, spanNs }, k) => {
    const is = (spanNs ?? NaN) / span.spanNs;
    t.is(basis, 'exact', name);
    t.true(Math.abs(is - (due[k] ?? NaN)) < toleranceByUnits, `${name}: ${is}, not ${due[k]} (${file})`);
  });
}
for (const hooks of ['instrumented', 'fentry', 'expanded'])
  needing(`made:${join(programs, `what_if_${hooks}`)}=GCC on x86-64`)(
    `what if: calls that return, throw, recur, keep a lock, have others inlined (${hooks})`,
    async (t) => {
      const binary = join(programs, `what_if_${hooks}`);
      for (const asked of [
        ['plain', 'thrower'],
        ['again', 'keeps_lock'],
      ])
        checkCase(t, await ask(t, '', asked, 1, binary), [29 / 32, 29 / 32]);
      checkCase(t, await ask(t, '', ['other=0.5', 'main'], 1, binary), [22 / 32, 0]);
    },
  );
const pthreads = join(programs, 'what_if_pthread');
test.serial('plain pthreads: threads by start routine, one creator, and a lock by its variable', async (t) => {
  for (const [args, asked, all, due] of [
    ['branches', ['a', 'b'], branches(1, 1), [branches(0, 1), branches(1, 0)]],
    ['branches', ['a@create', 'b=0.5'], branches(1, 1), [branches(0, 1), branches(1, 0.5)]],
    ['lock', ['narrow', 'comes_late'], lock, [unordered, first]],
  ] as const)
    checkPieces(t, await ask(t, args, asked, 0, pthreads), all, due);
});
needing('perf_event_open')('plain pthreads: of a procedure without hooks there are bounds', async (t) => {
  const { span, answers, pieces } = await ask(t, 'branches', ['called'], 0, pthreads);
  const [answer] = answers;
  t.is(answer?.basis, 'sampled');
  const [low, high] = [answer?.lowNs ?? NaN, answer?.highNs ?? NaN].map((ns) => ns / span.spanNs);
  const due = branches(0, 1)(pieces) / branches(1, 1)(pieces);
  t.true(low! <= due && due <= high!, `${low} to ${high}, not ${due}`);
});

test.serial('a smaller factor makes no longer span', async (t) => {
  const { answers, span } = await ask(t, 'branches', ['a=0.3', 'a=0.9']);
  const [less, more] = answers.map(({ spanNs }) => spanNs ?? NaN);
  t.true(less! <= more! && more! <= span.spanNs, `${less} ${more} ${span.spanNs}`);
});

test.serial('where nothing is asked, the places that spawn most of the span are chosen', async (t) => {
  const { model, span, answers, pieces, file } = await ask(t, 'rounds', []);
  t.deepEqual(answers.map(({ name }) => name).sort(), ['less@rounds', 'more@rounds']);
  for (const { name, basis, sinceNs, factor, savesNs } of answers) {
    t.deepEqual([basis, factor], ['exact', 0]);
    t.true(sinceNs !== null && sinceNs >= 90e6 && sinceNs < model.elapsedNs, `${sinceNs}`);
    // Of each round's 3 one is more's alone. Before the choice all is as it was.
    const rest = 1 - (sinceNs ?? 0) / model.elapsedNs;
    const share = (savesNs ?? NaN) / span.spanNs / rest;
    const due = 1 - pieces(name === 'more@rounds' ? 'l' : 'm') / pieces('x');
    t.true(Math.abs(share - due) < tolerance, `${name}: ${share} of the rest, not ${due} (${file})`);
  }
});

test.serial('slack: what the shorter branch could take longer', async (t) => {
  const { span, model, pieces } = await ask(t, 'branches', ['a']);
  const [row] = span.slack;
  t.is(span.slack.length, 1);
  t.is(model.entities[row?.caller ?? 0]?.name, 'branches');
  t.deepEqual([row?.merges, row?.threads, row?.lost], [1, 2, 1]);
  const share = (row?.slackNs ?? NaN) / span.spanNs;
  const due = (pieces('a') - pieces('b')) / branches(1, 1)(pieces);
  t.true(Math.abs(share - due) < tolerance, `${share}, not ${due}`);
  t.is(row?.slackNs, row?.leastSlackNs);
});

test.serial('text and JSON say it; a name that never ran, or that nothing has, does so in one line', async (t) => {
  const { file } = await ask(t, 'branches', ['a', 'never']);
  const text = await quartz(['path', '--span', '--width', '400', file]);
  t.regex(
    text.stdout,
    /If a were free, the span would be .* instead of .*\. The run would take about .* on 1 processor/,
  );
  t.regex(text.stdout, /What if never: it never ran\./);
  t.regex(text.stdout, /Threads that could take longer[\s\S]* branches/);
  const json = JSON.parse((await quartz(['path', '--json', file])).stdout) as {
    whatIf: { name: string; basis: string; spanNs: number | null }[];
    slack: { caller: string }[];
  };
  t.deepEqual(
    json.whatIf.map(({ name, basis }) => [name, basis]),
    [
      ['a', 'exact'],
      ['never', 'never-ran'],
    ],
  );
  t.is(json.slack[0]?.caller, 'branches');
  const { file: other } = await ask(t, 'branches', ['no_such_name', 'a@nested']);
  const said = (await quartz(['path', '--span', '--width', '400', other])).stdout;
  t.regex(said, /What if no_such_name: no procedure or lock has that name\./);
  t.regex(said, /What if a@nested: no thread was created there\./);
});

test('a factor that is no number, or a third question, is wrong usage', async (t) => {
  for (const args of [
    ['--what-if', 'a=x'],
    ['--what-if', 'a=-1'],
    ['--what-if', '=1'],
    ['--what-if', 'a', '--what-if', 'b', '--what-if', 'never'],
  ]) {
    const { status, stderr } = await quartz(['record', ...args, '--', program, 'never']);
    t.is(status, 2, args.join(' '));
    t.regex(stderr, /--what-if/);
  }
});
