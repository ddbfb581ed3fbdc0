/** The live screen as a terminal shows it: text, colours, sizes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { tabKey, tabs } from '../../../tui/src/state/types.js';
import { root } from '../../support/root.js';
import { ProfileBuilder, ready, run } from '../../support/profile-builder.js';
import { buildModel } from '../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../ts-frontend/src/render/findings/index.js';
import { Canvas, wrap } from '../../../tui/src/draw/canvas.js';
import { time } from '../../../tui/src/draw/format.js';
import { plainLetters } from '../../../tui/src/draw/glyphs.js';
import { innerCode, large, small, withInstructions } from './example.js';
import { Memory, Session } from './screen.js';

/** Compares with test/unit/tui/golden/NAME; QUARTZ_UPDATE_GOLDENS=1 writes it instead. */
function golden(t: ExecutionContext, name: string, lines: string[]): void {
  const file = join(root, 'test/unit/tui/golden', `${name}.txt`);
  const text = lines.map((line) => line.trimEnd()).join('\n');
  if (process.env['QUARTZ_UPDATE_GOLDENS'] === '1') writeFileSync(file, `${text}\n`);
  t.true(existsSync(file), `${file} is missing`);
  t.is(`${text}\n`, readFileSync(file, 'utf8'));
}

for (const [width, height] of [
  [80, 24],
  [200, 60],
] as const) {
  test.serial(`every tab at ${width}x${height}`, async (t) => {
    const session = new Session(new Memory(small()), { width, height });
    await session.settle((lines) => lines[0]!.includes('prog'));
    for (const [index, tab] of tabs.entries())
      golden(t, `${tab}-${width}x${height}`, await session.type(tabKey(index)));
    golden(t, `lock-${width}x${height}`, await session.type('3', 'z'));
    golden(t, `help-${width}x${height}`, await session.type('z', '2', '?'));
    await session.quit();
  });
}

test('times are in µs where the terminal has the letter, else in us', (t) => {
  const canvas = new Canvas(12, 1);
  canvas.text(0, 0, `${time(1500)} …`);
  t.is(canvas.line(0).trimEnd(), '1.50 µs …');
  canvas.replace(plainLetters);
  t.is(canvas.line(0).trimEnd(), '1.50 us ~');
});

test.serial('where refreshes are far apart, the first line says when the next one is', async (t) => {
  for (const [nextMs, words] of [
    [1400, / running$/],
    [7300, / running, next look in 7 s$/],
  ] as const) {
    const session = new Session(new Memory(small()), { nextMs });
    const [first = ''] = await session.settle((lines) => words.test(lines[0]!.trimEnd()));
    t.regex(first.trimEnd(), words);
    t.regex((await session.type('f'))[0]!, /frozen at/);
    await session.quit();
  }
});

test.serial('where other programs have the CPUs nearly always, the title of the findings says so', async (t) => {
  const raw = small();
  const title = async (head: Partial<typeof raw.head>): Promise<string> => {
    const session = new Session(new Memory({ ...raw, head: { ...raw.head, ...head } }), { width: 100 });
    const lines = await session.settle((now) => now.some((line) => line.includes('What limits')));
    await session.quit();
    return lines.find((line) => line.includes('What limits'))!;
  };
  t.notRegex(await title({}), /wrong/);
  const disturbed = { cpus: 64, cpuRunNs: raw.head.elapsedNs / 100, cpuWaitNs: 10 * raw.head.elapsedNs };
  t.regex(await title(disturbed), /What limits this program \(may be wrong: other programs have the CPUs\)/);
});

test.serial('the path at 160x50, and without Unicode', async (t) => {
  const wide = new Session(new Memory(small()), { width: 160, height: 50 });
  await wide.settle((lines) => lines[0]!.includes('prog'));
  golden(t, 'path-160x50', await wide.type('9'));
  await wide.quit();
  const narrow = new Session(new Memory(small()), { ascii: true, colour: false });
  await narrow.settle((lines) => lines[0]!.includes('prog'));
  golden(t, 'path-ascii', await narrow.type('9'));
  await narrow.quit();
});

test.serial('the path: rows are chosen in both lists, and Enter shows all that is known of one', async (t) => {
  const session = new Session(new Memory(small()));
  await session.settle((lines) => lines[0]!.includes('prog'));
  const chosen = (lines: string[]): string => lines.find((line) => line.startsWith('>')) ?? '';
  t.regex(chosen(await session.type('9')), /900 ms.*main.*finish/, 'the newest');
  t.regex(chosen(await session.type('g')), /0.*main.*setup/);
  t.true((await session.type('v', 'G')).some((line) => /^>.*blocking|^>.*barrier step/.test(line)));
  const page = await session.type('g', '\r');
  t.true(page[1]!.includes('[2 '), page[1]);
  t.true(page.some((line) => line.startsWith('work')));
  await session.type('9', '/', 'w', 'o', 'r', 'k', 'e', 'r', ' ', '3', '\r');
  const found = session.lines().filter((line) => /^[> ] +[\d.]+ m?s +[\d.]+ ms worker/.test(line));
  t.is(found.length, 2, session.lines().join('\n'));
  await session.quit();
});

test.serial('a: the instructions of the hottest lines, and the source again', async (t) => {
  for (const [width, height, ascii] of [
    [80, 24, false],
    [160, 50, false],
    [80, 24, true],
  ] as const) {
    const memory = new Memory(withInstructions(small()));
    memory.pieces = [innerCode];
    const session = new Session(memory, { width, height, ascii });
    await session.settle((lines) => lines[0]!.includes('prog'));
    await session.type('2', '/', 'i', 'n', 'n', 'e', 'r', '\r', '8');
    golden(t, `instructions-${width}x${height}${ascii ? '-ascii' : ''}`, await session.type('a'));
    t.false((await session.type('a')).some((line) => line.includes('instruction')));
    await session.quit();
  }
  const session = new Session(new Memory(small()));
  await session.settle((lines) => lines[0]!.includes('prog'));
  t.true((await session.type('8', 'a')).some((line) => line.includes('no instructions')));
  await session.quit();
});

test.serial('without a path the tab says why', async (t) => {
  const session = new Session(new Memory(large(4, 3)));
  const lines = await session.type('9');
  t.true(
    lines.some((line) => line.includes('no time path yet')),
    lines.join('\n'),
  );
  await session.quit();
});

test.serial('ASCII sends no other character', async (t) => {
  const session = new Session(new Memory(small()), { ascii: true, width: 140, height: 40 });
  for (const key of ['1', '2', '3', '4', '5', '6', '7', '8', '9', '?']) {
    for (const line of await session.type(key)) t.regex(line, /^[\x20-\x7e]*$/);
  }
  golden(t, 'overview-ascii', await session.type('x', '1'));
  await session.quit();
});

test.serial('states have colours, and letters or shades of their own', async (t) => {
  const session = new Session(new Memory(small()), { width: 120, dots: false });
  await session.settle((lines) => lines[0]!.includes('prog'));
  const y = session.lines().findIndex((line) => line.startsWith('processors (of 4)'));
  const colourOf = new Map<string, number>();
  for (const run of session.runs(y)) if (/^[█▓▒·▪]$/.test(run.text.trim())) colourOf.set(run.text.trim(), run.fg);
  t.is(colourOf.size, 5);
  t.is(new Set(colourOf.values()).size, 5);
  await session.quit();
});

test.serial('lines of dots show runnable threads beyond the processors, whose own lines stay within', async (t) => {
  const raw = new ProfileBuilder({ processors: 2 })
    .stretch(
      1e9,
      Array.from({ length: 6 }, (_, k) => (k < 2 ? run(`t${k}`, ['main', 'work']) : ready(`t${k}`, ['main', 'work']))),
    )
    .stretch(1e9, [run('t0', ['main'])])
    .build();
  const session = new Session(new Memory(raw), { width: 100, height: 30 });
  const lines = await session.settle((now) => now.some((line) => line.startsWith('processors (of 2), top down')));
  const y = lines.findIndex((line) => line.startsWith('processors (of 2)'));
  const scale = lines
    .slice(y + 1, y + 8)
    .map((line) => /^\d*/.exec(line)![0])
    .filter((label) => label !== '');
  t.deepEqual(
    scale.map(Number),
    [...scale.map(Number)].sort((a, b) => b - a),
  );
  t.true(Number(scale[0]) > 2, 'the scale goes to the runnable threads');
  const rowsOf = (fg: number): number[] =>
    lines.flatMap((_, row) =>
      row > y && row < y + 6 && session.runs(row).some((one) => one.fg === fg && /[\u2801-\u28ff]/.test(one.text))
        ? [row - y]
        : [],
    );
  const [runnable, useful] = [rowsOf(6), rowsOf(2)]; // cyan, green
  t.is(Math.min(...runnable), 1, lines.join('\n'));
  t.true(Math.min(...useful) > 2, lines.join('\n'));
  await session.type('2');
  t.false(
    session.lines().some((line) => /[\u2801-\u28ff]/.test(line)),
    'they go with the tab',
  );
  await session.type('1');
  t.true(session.lines().some((line) => /[\u2801-\u28ff]/.test(line)));
  await session.quit();
});

test.serial('a line of dots that rises in the last column stays in its rows', async (t) => {
  const threads = (number: number): ReturnType<typeof run>[] =>
    Array.from({ length: number }, (_, k) => (k < 2 ? run(`t${k}`, ['main']) : ready(`t${k}`, ['main'])));
  const builder = new ProfileBuilder({ processors: 2 });
  for (let k = 0; k < 20; k++) builder.stretch(1e9, threads(k % 2 ? 1 : 6)).stretch(0.03e9, threads(k % 2 ? 6 : 1));
  for (const width of [80, 100, 120]) {
    const session = new Session(new Memory(builder.build()), { width, height: 30 });
    const lines = await session.settle((now) => now.some((line) => /[\u2801-\u28ff]/.test(line)));
    for (const line of lines) t.notRegex(line, /^[\u2801-\u28ff]/, lines.join('\n'));
    await session.quit();
  }
});

test.serial('cells too show runnable threads beyond the processors', async (t) => {
  const raw = new ProfileBuilder({ processors: 2 })
    .stretch(
      1e9,
      Array.from({ length: 6 }, (_, k) => (k < 2 ? run(`t${k}`, ['main', 'work']) : ready(`t${k}`, ['main', 'work']))),
    )
    .build();
  for (const options of [{ colour: false }, { ascii: true }, { dots: false }]) {
    const session = new Session(new Memory(raw), { width: 100, height: 30, ...options });
    const lines = await session.settle((now) => now.some((line) => line.startsWith('processors (of 2)')));
    const y = lines.findIndex((line) => line.startsWith('processors (of 2)'));
    const [mark, useful] = options.ascii === true ? ['-', '#'] : ['▪', '█'];
    t.true(lines[y + 1]!.includes(mark.repeat(50)) && !lines[y + 1]!.includes(useful), lines.join('\n'));
    t.false(lines.some((line) => /[\u2801-\u28ff]/.test(line)));
    t.true(lines.slice(y + 2, y + 8).some((line) => line.includes(useful.repeat(50)) && !line.includes(mark)));
    await session.quit();
  }
});

test.serial('no sentence of a finding is lost: what does not fit is said, and scrolled to', async (t) => {
  for (const [width, height] of [
    [80, 24],
    [60, 15],
    [100, 30],
  ] as const) {
    const session = new Session(new Memory(small()), { width, height });
    await session.settle((lines) => lines[0]!.includes('prog'));
    const model = buildModel(small());
    const sentences = model.findings.map((finding) => findingSentences(model, finding, { ascii: false }));
    const seen = new Set<string>();
    for (let k = 0; k < 40; k++) {
      const lines = session.lines();
      for (const line of lines.slice(4, -1)) seen.add(line.slice(3).trim());
      if (!lines.some((line) => /▼ \d+ lines? more/.test(line))) break;
      await session.type('j');
    }
    t.false(session.lines().some((line) => /▼ \d+ lines? more/.test(line)));
    for (const { text, remedy } of sentences)
      for (const line of wrap(`${text} ${remedy}`, width - 3)) t.true(seen.has(line), `${width}x${height}: ${line}`);
    await session.type('j', 'j', 'k', 'g');
    t.true(session.lines()[4]!.startsWith('1. '), 'scrolling stops at the ends');
    await session.quit();
  }
});

test.serial('160x50: the chart takes a third at most, below it waits and the first finding', async (t) => {
  const session = new Session(new Memory(small()), { width: 160, height: 50 });
  const lines = await session.settle((now) => now.some((line) => line.startsWith('processors (of 4)')));
  const from = lines.findIndex((line) => line.startsWith('processors (of 4)')),
    to = lines.findIndex((line) => line.startsWith('each processor'));
  t.true(to - from <= 50 / 3);
  t.true(lines.some((line) => line.includes('what threads waited for longest') && line.includes('finding 1: setup')));
  t.true(lines.some((line) => line.includes('300 ms') && line.includes('table [mutex]')));
  await session.quit();
});

test.serial('without colour nothing is coloured, and the selection still shows', async (t) => {
  const session = new Session(new Memory(small()), { colour: false });
  await session.type('2');
  for (let y = 0; y < 24; y++) for (const run of session.runs(y)) t.is(run.fg, -1);
  t.true(session.runs(4)[0]!.inverse);
  t.true(session.lines()[4]!.startsWith('>'));
  await session.quit();
});

test.serial('any size: nothing is drawn outside, too small says so, and it comes back', async (t) => {
  const session = new Session(new Memory(small()), { width: 120, height: 40 });
  for (const key of ['1', '2', '3', '6', '?']) {
    await session.type(key);
    for (const [width, height] of [
      [40, 10],
      [300, 70],
      [20, 5],
      [80, 24],
    ] as const) {
      const lines = await session.resize(width, height);
      t.is(lines.length, height);
      if (width < 40) t.true(lines[0]!.includes('quartz top needs'));
      else t.true(lines[0]!.includes('prog'));
    }
  }
  await session.quit();
});

test.serial('256 processors fit as a heat strip', async (t) => {
  const session = new Session(new Memory(large(256, 20)), { width: 80, height: 24 });
  const lines = await session.settle((now) => now.some((line) => line.startsWith('each processor')));
  const at = lines.findIndex((line) => line.startsWith('each processor'));
  const strip = lines
    .slice(at + 1, -1)
    .filter((line) => line.startsWith('P'))
    .map((line) => line.slice(6))
    .join('');
  t.is(strip.length, 256);
  t.is(strip[7], '!');
  await session.quit();
});
