/** The map of a set's ranks as a terminal shows it: values by colour and sign, keys, zooming into columns. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { heatRows } from '../../../ts-frontend/src/sets/heat.js';
import { limitsOf } from '../../../ts-frontend/src/sets/limits/load.js';
import { jobSentences } from '../../../ts-frontend/src/sets/limits/sentences.js';
import { loadSet } from '../../../ts-frontend/src/sets/load.js';
import { merge } from '../../../ts-frontend/src/sets/merge.js';
import { readHead, type SetHead } from '../../../ts-frontend/src/sets/set-file.js';
import { rankMap } from '../../../tui/src/ranks/map.js';
import { RankScreen } from '../../../tui/src/ranks/screen.js';
import { initialRanks, type RankScene } from '../../../tui/src/ranks/state.js';
import { unicode } from '../../../tui/src/draw/glyphs.js';
import { jobOf, sourcesOf } from '../../support/rank-profiles.js';
import { root } from '../../support/root.js';
import { temporaryDirectory } from '../../support/temporary.js';
import { Session } from './screen.js';

function golden(t: ExecutionContext, name: string, lines: string[]): void {
  const file = join(root, 'test/unit/tui/golden', `${name}.txt`);
  const text = lines.map((line) => line.trimEnd()).join('\n');
  if (process.env['QUARTZ_UPDATE_GOLDENS'] === '1') writeFileSync(file, `${text}\n`);
  t.true(existsSync(file), `${file} is missing`);
  t.is(`${text}\n`, readFileSync(file, 'utf8'));
}

/** Ranks that solve for that many ms each, and then wait for the one with most. */
async function sceneOf(solveMs: readonly number[]): Promise<RankScene> {
  const folder = join(temporaryDirectory(), 'run.quartzset');
  const finding = { kind: 'serial', cost_ns: 1, saving_ns: 1, text: 'solve costs most.', remedy: 'Divide.' };
  await merge(
    sourcesOf(jobOf(solveMs)).map((source, rank) => ({ ...source, findings: () => (rank === 3 ? [finding] : []) })),
    folder,
    { quartz: 'test', parameters: {} },
  );
  const set = await loadSet(folder, readHead(folder) as SetHead, 'page');
  const limits = await limitsOf(folder, set);
  const [first] = limits.findings;
  const limit = first === undefined ? null : jobSentences(limits, first, { ascii: true }).text;
  return { set, rows: await heatRows(folder, set), limit };
}

test.serial('five ranks: the late one stands out in its row, and is described below', async (t) => {
  const scene = await sceneOf([100, 102, 101, 300, 100]);
  for (const ascii of [false, true]) {
    const session = new Session(new RankScreen(scene), { ascii, colour: !ascii });
    await session.settle((lines) => lines[0]!.includes('5 ranks'));
    golden(t, `ranks${ascii ? '-ascii' : ''}`, await session.type('l', 'l', 'l'));
    await session.quit();
  }
});

test.serial('s sorts by the selected line; the selected rank stays; Enter asks for its screen', async (t) => {
  const scene = await sceneOf([100, 102, 101, 300, 100]);
  const screen = new RankScreen(scene);
  const size = { width: 80, height: 24 };
  const solve = scene.rows.findIndex(({ name, quantity }) => name === 'solve' && quantity === 'npt_ns');
  for (let k = 0; k < solve; k++) screen.key('j', 'j', size);
  t.is(screen.key('enter', '\r', size), 'close');
  t.is(screen.opened, 0);
  screen.key('s', 's', size);
  t.is(screen.key('enter', '\r', size), 'close');
  t.is(screen.opened, 0, 'selected before and after');
  screen.key('g', 'g', size);
  screen.key('enter', '\r', size);
  t.is(screen.opened, 3, 'the one with most comes first');
  t.is(screen.key('q', 'q', size), 'close');
  t.is(screen.opened, null, 'q opens none');
});

test('more ranks than columns: one column is several; Enter shows these alone, Esc all again', async (t) => {
  const late = 321;
  const scene = await sceneOf(Array.from({ length: 400 }, (_, rank) => (rank === late ? 300 : 100)));
  const screen = new RankScreen(scene);
  const size = { width: 80, height: 24 };
  const text = (): string => screen.draw(size, unicode).chars.join('');
  t.is((text().match(/▲/g) ?? []).length, scene.rows.filter(({ values, median }) => values[late]! > median).length + 1);
  screen.key('S-g', 'G', size);
  for (let k = 0; k < 400 && !text().includes(`rank ${late} on`); k++) screen.key('h', 'h', size);
  t.is(screen.key('enter', '\r', size), null, 'a column of several is shown alone');
  t.is(screen.opened, null);
  t.is(screen.key('enter', '\r', size), 'close');
  t.is(screen.opened, late, 'the one that is far from the others is selected in it');
  screen.key('escape', undefined, size);
  t.regex(text(), / 399[ >]/);
});

test('any size: nothing is drawn outside, and too small says so', async (t) => {
  const scene = await sceneOf([100, 102, 101, 300, 100]);
  for (const width of [1, 39, 40, 61, 200])
    for (const height of [1, 9, 10, 60]) {
      const { chars } = rankMap(scene, { width, height }, initialRanks(scene), unicode);
      t.is(chars.length, width * height);
      if (width < 40 || height < 10) t.regex(chars.join(''), /^[q…]/);
    }
});

test('ranks that differ in nothing', async (t) => {
  const scene = await sceneOf([100, 100]);
  t.deepEqual(scene.rows, []);
  const screen = new RankScreen(scene);
  for (const key of ['j', 'enter', 's', 'escape', 'g'])
    t.is(screen.key(key, undefined, { width: 80, height: 24 }), null);
  t.regex(screen.draw({ width: 80, height: 24 }, unicode).chars.join(''), /differ in nothing/);
});
