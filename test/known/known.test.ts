/** Every program of test/programs gets the answer that stands in its head. */
import test from 'ava';
import { deviations } from './check.js';
import { programs, variants } from './programs.js';
import { record } from './record.js';

for (const { name, binary, answers } of [...programs, ...variants]) {
  if (answers.manual) continue;
  // One at a time: the programs' shares of time are compared with exact ones.
  test.serial(name, async (t) => {
    const recording = await record(binary, { processors: answers.processors, args: answers.arguments });
    t.is(recording.status, answers.signal > 0 ? 128 + answers.signal : answers.exitStatus, recording.stderr);
    const { head } = recording.model;
    if (answers.end !== '') t.is(head.endReason as string, answers.end);
    else if (answers.signal > 0) t.deepEqual([head.endReason as string, head.exitStatus], ['signal', answers.signal]);
    else t.deepEqual([head.endReason as string, head.exitStatus], ['exit', answers.exitStatus]);
    const lines = deviations(recording.model, answers);
    for (const line of lines) t.log(line);
    t.is(lines.length, 0);
  });
}
