/** What TypeScript knows of profiles is what the headers say. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';

test('values and bounds of profiles, and the fields of the head, are made from abi/ and the addon', (t) => {
  t.notThrows(() => execFileSync('node', [join(root, 'scripts/abi-table.js'), '--check'], { stdio: 'pipe' }));
});
