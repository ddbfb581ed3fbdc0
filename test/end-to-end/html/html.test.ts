/**
 * quartz html: the page of a recorded program, in a real browser if there is one, and the messages for invalid input.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { buildModel } from '../../../ts-frontend/src/model/index.js';
import { openProfile } from '../../../ts-frontend/src/reader/profile.js';
import { needing } from '../../support/capabilities.js';
import { Chromium } from '../../support/chromium.js';
import { command, directory, program, quartz, run } from '../../support/run-quartz.js';

const home = directory();
const profile = join(home, 'prog.quartz');
const page = join(home, 'page.html');

test.before(async (t) => {
  const recorded = await quartz(['record', '-o', profile, '--', program('serial_then_parallel')], {
    env: { QUARTZ_PROCESSORS: '4' },
  });
  t.is(recorded.status, 0, recorded.stderr);
  const { status, stdout, stderr } = await quartz(['html', '-o', page, profile]);
  t.deepEqual([status, stdout, stderr], [0, '', '']);
});

test('one file below 300 KB; into a file and to stdout the same', async (t) => {
  t.true(statSync(page).size < 300e3);
  const piped = await run('sh', ['-c', '"$0" html "$1" | cmp - "$2"', command, profile, page]);
  t.is(piped.status, 0, piped.stderr);
});

test('a reader that goes away is no error', async (t) => {
  const { status, stderr } = await run('bash', [
    '-o',
    'pipefail',
    '-c',
    '"$0" html "$1" | head -c 10',
    command,
    profile,
  ]);
  t.deepEqual([status, stderr], [0, '']);
});

/** Bars as drawn: name, and share of the whole width. */
const drawnBars = `(() => {
  const svg = document.querySelector('#graph svg');
  const whole = svg.viewBox.baseVal.width;
  return [...svg.querySelectorAll('g')].map((g) => ({
    node: Number(g.dataset.n), title: g.querySelector('title').textContent,
    share: (g.querySelector('rect').width.baseVal.value + 0.5) / whole,
  }));
})()`;
interface Drawn {
  node: number;
  title: string;
  share: number;
}

needing('tool:chromium')(
  "in Chromium: sums are the model's, zoom, search, keys and themes work, and nothing complains",
  async (t) => {
    const model = buildModel(openProfile(profile, { byStack: true }));
    const browser = await Chromium.open(page);
    try {
      const bars = (await browser.evaluate(drawnBars)) as Drawn[];
      const shareOf = (name: string): number =>
        bars.filter(({ title }) => title.startsWith(`${name} (`)).reduce((sum, { share }) => sum + share, 0);
      for (const name of ['a', 'b']) {
        const entity = model.entities.find((one) => one.name === name && one.kind === 'procedure')!;
        const wanted = entity.nptNs / model.root.nptNs;
        t.true(Math.abs(shareOf(name) - wanted) < 0.01, `${name}: ${shareOf(name)} of the width, wanted ${wanted}`);
      }
      // Zoom by click: the selected bar is as wide as the whole graph.
      const target = bars.find(({ title }) => title.startsWith('a ('))!.node;
      await browser.evaluate(
        `document.querySelector('#graph [data-n="${target}"]').dispatchEvent(new MouseEvent('click', { bubbles: ` +
          'true }))',
      );
      const zoomed = (await browser.evaluate(drawnBars)) as Drawn[];
      t.true(zoomed.find(({ node }) => node === target)!.share > 0.99);
      // Keys: zoom out, down to main, and in again.
      await browser.evaluate(`document.querySelector('#graph').focus()`);
      for (let k = 0; k < 10; k++) await browser.press('Escape');
      t.is(((await browser.evaluate(drawnBars)) as Drawn[]).length, bars.length);
      await browser.press('ArrowDown');
      t.regex(
        (await browser.evaluate(`document.getElementById('readout').textContent`)) as string,
        /^main .*of elapsed time/,
      );
      // Search: the time in what matches.
      await browser.press('/');
      t.is(await browser.evaluate('document.activeElement.id'), 'search');
      await browser.press('b');
      t.regex(
        (await browser.evaluate(`document.getElementById('found').textContent`)) as string,
        /% of elapsed time is in it/,
      );
      // Figure 1 of any entity.
      await browser.evaluate(
        `(() => { const s = document.getElementById('entity'); s.value = '1'; s.dispatchEvent(new Event('change')); ` +
          '})()',
      );
      t.true(((await browser.evaluate(`document.querySelectorAll('#figures rect').length`)) as number) > 0);
      // Themes.
      const paper = async (): Promise<unknown> => browser.evaluate('getComputedStyle(document.body).backgroundColor');
      const light = await paper();
      await browser.prefer('dark');
      const dark = await paper();
      t.not(dark, light);
      await browser.prefer('light');
      await browser.evaluate(`document.getElementById('theme').click()`);
      t.is(await paper(), dark);
      t.deepEqual(browser.complaints, []);
    } finally {
      await browser.close();
    }
  },
);

needing('tool:chromium')('in Chromium: a narrow window is not left, tables are scrolled in it', async (t) => {
  const browser = await Chromium.open(page, 380);
  try {
    await browser.evaluate(
      `document.querySelectorAll('td.left').forEach((cell) => { cell.textContent += ' ' + 'xy'.repeat(60); })`,
    );
    t.true(
      await browser.evaluate(
        '[...document.querySelectorAll("table")].some((one) => one.getBoundingClientRect().right > innerWidth)',
      ),
    );
    t.true(await browser.evaluate('document.documentElement.scrollWidth <= innerWidth'));
  } finally {
    await browser.close();
  }
});

needing('tool:chromium')('in Chromium: printed, all columns are on the paper, however long a name is', async (t) => {
  const browser = await Chromium.open(page, 720); // A4 without margins
  try {
    await browser.print();
    await browser.evaluate(
      `document.querySelectorAll('td.left:last-child').forEach((cell) => { cell.textContent += 'x y'.repeat(40); })`,
    );
    const widths = (await browser.evaluate(
      '[...document.querySelectorAll("table, svg, p")].map((one) => one.getBoundingClientRect().right)',
    )) as number[];
    t.true(widths.length > 10);
    t.true(Math.max(...widths) <= 720, `${Math.max(...widths)} pixels of 720`);
  } finally {
    await browser.close();
  }
});

for (const [args, status, message] of [
  [['gone.quartz'], 125, /gone\.quartz does not exist; name a profile/],
  [
    ['-o', '/nowhere/x', profile],
    125,
    /\/nowhere\/x cannot be written: no such file or directory; name another file with -o/,
  ],
  [[profile, profile, profile], 2, /does not know what to do with/],
  [['--otput', 'x'], 2, /has no option "--otput"/],
] as const)
  test(`quartz html ${args.map((word) => (word === profile ? 'FILE' : word)).join(' ')}`, async (t) => {
    const ended = await quartz(['html', ...args]);
    t.is(ended.status, status);
    t.regex(ended.stderr, message);
    t.is(ended.stdout, '');
    t.is(ended.stderr.trimEnd().split('\n').length, 1);
  });

test('a damaged profile makes no page', async (t) => {
  const damaged = join(home, 'damaged.quartz');
  writeFileSync(damaged, readFileSync(profile).subarray(0, 3000));
  const { status, stdout, stderr } = await quartz(['html', damaged]);
  t.is(status, 125);
  t.is(stdout, '');
  t.regex(stderr, /^quartz: .*damaged\.quartz: [^\n]+\n$/);
});
