/** Tests of one file that wait most of the time: some of them at a time, instead of one after the other. */
import test from 'ava';
import type { Body } from './capabilities.js';

/**
 * Like test.serial, but up to `most` of these tests run at the same time, in the order of their declaration. For tests
 * whose programs sleep: the CPUs must stay idle most of the time.
 */
export function atOnce(most: number): (title: string, body: Body) => void {
  let running = 0;
  const waiting: (() => void)[] = [];
  return (title, body) => {
    test(title, async (t) => {
      if (running < most) running++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        await body(t);
      } finally {
        const next = waiting.shift();
        if (next) next();
        else running--;
      }
    });
  };
}
