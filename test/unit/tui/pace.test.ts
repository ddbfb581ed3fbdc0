/** How often the screen refreshes, depending on the cost of a refresh. */
import test from 'ava';
import { Pace } from '../../../tui/src/pace.js';

/**
 * CPU time in ms after that many seconds, and the number of refreshes, of a screen with this cost of start and refresh.
 */
function run(startMs: number, costMs: number, seconds: number): { used: number; refreshes: number; longest: number } {
  const pace = new Pace(1000);
  let now = startMs,
    used = startMs,
    refreshes = 0,
    longest = 0;
  for (;;) {
    const wait = pace.next(now, used);
    if (now + wait > seconds * 1000) return { used, refreshes, longest };
    longest = Math.max(longest, wait);
    now += wait;
    used += costMs;
    refreshes++;
  }
}

test('a cheap refresh comes every second, from the start', (t) => {
  t.is(run(200, 15, 30).refreshes, 29);
});

test('an expensive one stays below 3 % of a CPU, the start included, and goes on', (t) => {
  for (const cost of [40, 80, 120]) {
    const { used, refreshes } = run(250, cost, 30);
    t.true(used <= 0.03 * 30_000, `${cost} ms: ${used} ms`);
    t.true(refreshes >= 3, `${cost} ms: ${refreshes} refreshes`);
  }
  t.true(run(250, 120, 300).used <= 0.03 * 300_000);
});

test('even the most expensive comes every 15 s', (t) => {
  t.is(run(1000, 2000, 100).longest, 15_000);
});
