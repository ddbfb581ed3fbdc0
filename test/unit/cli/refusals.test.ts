/** Profiles and rules that commands cannot use: what is wrong, and what to do, before anything is printed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { parse } from '../../../ts-frontend/src/cli/command.js';
import { exitCodes, Failure } from '../../../ts-frontend/src/cli/failure.js';
import { loadModel } from '../../../ts-frontend/src/cli/profile.js';
import { gate } from '../../../ts-frontend/src/cli/show/gate.js';
import { command as compare } from '../../../ts-frontend/src/commands/compare.js';
import { temporaryDirectory } from '../../support/temporary.js';

const place = temporaryDirectory();
const at = (name: string): string => join(place, name);
mkdirSync(at('runs'));
mkdirSync(at('job.quartzset'));
writeFileSync(at('text.quartz'), 'hello\n'.repeat(100));
writeFileSync(at('empty.quartz'), '');

for (const [name, why] of [
  ['missing.quartz', / does not exist; name a profile, or make one with: quartz record -- PROGRAM$/],
  ['runs', / is a directory; name a profile in it; directories of runs are for quartz merge/],
  ['job.quartzset', / is a set of profiles; ask it with quartz query/],
  ['text.quartz', /: it is not a Quartz profile; name a file that quartz record made$/],
  ['empty.quartz', /: it is [^;]*; \w+/],
] as const)
  test(`no profile: ${name}`, (t) => {
    const failure = t.throws(() => loadModel(at(name), { raw: false }), { instanceOf: Failure });
    t.regex(failure.message, why);
    t.true(failure.message.startsWith(at(name)));
    t.is(failure.exitCode, exitCodes.failed);
  });
test('no profile: a device', (t) => {
  t.is(
    t.throws(() => loadModel('/dev/null', { raw: false }), { instanceOf: Failure }).message,
    '/dev/null is not a file; name a profile',
  );
});

const args = parse(compare, []);
for (const [rules, why] of [
  ['', /^--fail-if has no rule; for example: /],
  [' ; ;', /^--fail-if has no rule; /],
  ['npt(work)', /^--fail-if "npt\(work\)": it is no rule; write METRIC\(NAME\) > NUMBER UNIT; for example: /],
  ['npt(work) > 5 %; cpu(f) > 1 %', /^--fail-if "cpu\(f\) > 1 %": there is no metric "cpu"; /],
] as const)
  test(`rules "${rules}" are refused, whatever the profiles are`, async (t) => {
    const failure = await t.throwsAsync(gate(args, rules, at('missing'), at('missing')), { instanceOf: Failure });
    t.regex(failure.message, why);
    t.is(failure.exitCode, exitCodes.usage);
  });

test('a directory without profiles, and a profile that is missing', async (t) => {
  const of = async (before: string): Promise<string> =>
    (await t.throwsAsync(gate(args, 'elapsed > 5 %', before, at('missing')), { instanceOf: Failure })).message;
  t.is(await of(at('runs')), `there is no *.quartz file in ${at('runs')}; record some there`);
  t.regex(await of(at('nothing')), /nothing does not exist; /);
});
