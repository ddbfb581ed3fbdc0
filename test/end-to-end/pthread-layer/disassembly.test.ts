/**
 * Instructions with their time: the slow instruction of a loop has most of it, the sum is the line's self time, and
 * loops that poll are marked; and the messages if there is no code to show.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  codeProcedures,
  costIndex,
  disassemblyOf,
  findSource,
  type Disassembly,
  type InstructionRow,
  type Model,
} from '../../../ts-frontend/src/model/index.js';
import { codeOf } from '../../../ts-frontend/src/reader/disassembly.js';
import { needing } from '../../support/capabilities.js';
import { openModel, temporaryFile } from '../../support/record.js';
import { command, run } from '../../support/run-quartz.js';
import { lineOfComment, sourceOf } from './helpers.js';

const source = 'slow_division.c';
const path = sourceOf(source);
const lineOf = (comment: string): number => lineOfComment(source, comment);

const codeIn = (model: Model, name: string): Disassembly => {
  const { id } = model.entities.find((one) => one.name === name && one.kind === 'procedure')!;
  const [procedure] = codeProcedures(model, id);
  return disassemblyOf(model, procedure!, codeOf(model, procedure!));
};
const time = ({ ns, spinNs }: InstructionRow): number => ns + spinNs;

needing(
  'tool:gcc',
  'perf_event_open',
  'process_vm_readv',
)('the slow instruction of a loop, or the one behind it, has most of the time', async (t) => {
  const binary = temporaryFile('slow_division');
  const profile = temporaryFile('slow.quartz');
  execFileSync('gcc', ['-O2', '-g', path, '-o', binary, '-lpthread'], { stdio: 'pipe' });
  const recorded = await run(command, ['record', '-o', profile, '--', binary, '40000000']);
  t.is(recorded.status, 0, recorded.stderr);
  const model = openModel(profile);

  const { rows, cost, errors } = codeIn(model, 'divide');
  t.deepEqual(errors, []);
  const at = rows.findIndex(({ text }) => text.startsWith('div '));
  const slow = rows.slice(at, at + 2).reduce((sum, row) => sum + time(row), 0);
  const listing = rows.map((row) => `${row.text}: ${time(row) / 1e6} ms`).join('\n');
  // Within four standard errors, given the number of its samples.
  const samples = (model.head.cpuUseSamples * cost.ns) / model.root.processorTimeNs;
  t.true(at >= 0 && slow > (0.6 - 4 * Math.sqrt(0.24 / samples)) * cost.ns, `${samples} samples\n${listing}`);
  t.true(rows[at]!.line === lineOf('division') && rows[at]!.loops[0]?.line === lineOf('loop'), listing);
  t.true(rows.some(({ hottest }) => hottest));
  // Each sample of the line belongs to one of its instructions.
  const [file] = findSource(model, source);
  const line = file!.lines.find((one) => one.line === lineOf('division'))!;
  const own = rows.filter((row) => row.line === lineOf('division')).reduce((sum, row) => sum + row.nptNs, 0);
  const self = line.self[costIndex.npt]!;
  t.true(Math.abs(own - self) <= 0.05 * model.elapsedNs, `${own} of its instructions, ${self} of the line`);

  const polling = codeIn(model, 'poll');
  t.true(
    polling.rows.some((row) => row.polls && time(row) > 0),
    polling.rows.map(({ text, polls }) => `${text} ${polls}`).join('\n'),
  );

  const shown = await run(command, ['report', profile, '--source', source, '--disassembly'], {
    env: { COLUMNS: '120' },
  });
  t.is(shown.status, 0, shown.stderr);
  t.regex(shown.stdout, /^ .* [\da-f]+ {2}div r\w+$/m);
  const json = JSON.parse(
    (await run(command, ['report', profile, '--source', source, '--disassembly', '--json'])).stdout,
  ) as { instructions: { procedure: string; rows: { text: string; samples: number }[] }[] };
  t.true(json.instructions.some(({ procedure, rows: its }) => procedure === 'divide' && its.length > 3));

  copyFileSync('/bin/true', binary);
  const other = await run(command, ['report', profile, '--source', source, '--disassembly']);
  t.is(other.status, 0);
  t.regex(other.stdout, /Not all instructions are shown: binary changed since the recording\./);
  rmSync(binary);
  t.regex(
    (await run(command, ['report', profile, '--source', source, '--disassembly'], { cwd: dirname(profile) })).stdout,
    /Not all instructions are shown: binary no longer there\./,
  );
});
