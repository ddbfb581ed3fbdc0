/**
 * The sentences for each form of evidence: the facts are made by hand, so that goldens contain the wording, whatever
 * the model finds.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { findingSentences } from '../../../ts-frontend/src/render/findings/index.js';
import { root } from '../../support/root.js';
import { model } from './finding-examples/base.js';
import { costlyWork } from './finding-examples/costly-work.js';
import { missingWork } from './finding-examples/missing-work.js';
import { waits } from './finding-examples/waiting.js';

const all = [...missingWork, ...waits, ...costlyWork];

const written = (options: { ascii: boolean }): string =>
  all
    .map(([title, one]) => {
      const { text, remedy } = findingSentences(model, one, options);
      return `${title}\n  ${text}\n  ${remedy}\n`;
    })
    .join('\n');

test('every form of evidence in sentences', (t) => {
  const file = join(root, 'test/unit/render/golden/findings.txt');
  if (process.env['QUARTZ_UPDATE_GOLDENS']) writeFileSync(file, written({ ascii: false }));
  t.is(written({ ascii: false }), readFileSync(file, 'utf8'));
});

test('in ASCII, and in a model with few snapshots', (t) => {
  t.regex(written({ ascii: true }), /^[\n\x20-\x7e]*$/);
  t.regex(
    findingSentences({ ...model, samples: 30 }, all[0]![1], { ascii: true }).text,
    /There are few snapshots, so the cost is uncertain: 400 ms to 600 ms \(95 % interval\)\.$/,
  );
});

test('one is one: no "1 threads", no "1 of them are"', (t) => {
  t.notRegex(written({ ascii: false }), /\b1 (threads|times|waits|acquisitions|switches|CPUs|were|have|wait|spin)\b/);
});
