/** For every program of test/known-answers/threadlib-programs, the report has the answers in the program's head. */
import { truthOfRun } from './oracle/look-up.js';
import { deviations, hasTimes, timesOff } from './check.js';
import { missing, programs, traced, variants } from './programs.js';
import { openModel, record, temporaryFile } from '../support/record.js';
import { atOnce } from '../support/at-once.js';
import { needing, skip } from '../support/capabilities.js';
import { schemaErrors } from '../support/json-schema.js';
import { reportJson } from '../../ts-frontend/src/render/index.js';

/** The programs sleep instead of working: three of them, recorded and compared, use a third of two CPUs. */
const sleeping = atOnce(3);

const othersRan = 'other programs had the CPUs';

for (const { name } of missing)
  needing('tool:clang')(name, (t) => {
    t.fail('clang is installed: build again');
  });

for (const { name, binary, answers } of [...programs, ...variants]) {
  if (answers.manual) continue;
  sleeping(name, async (t) => {
    const recording = await record(binary, { processors: answers.processors, args: answers.arguments });
    t.is(recording.status, answers.signal > 0 ? 128 + answers.signal : answers.exitStatus, recording.stderr);
    const { head } = recording.model;
    if (answers.end !== '') t.is<string, string>(head.endReason, answers.end);
    else if (answers.signal > 0) t.deepEqual([head.endReason as string, head.exitStatus], ['signal', answers.signal]);
    else t.deepEqual([head.endReason as string, head.exitStatus], ['exit', answers.exitStatus]);
    t.is(
      schemaErrors([...reportJson(recording.model, '0.1.0')].join('')),
      '',
      'the report as JSON has the form of its schema',
    );
    const { wrong, undecided } = deviations(recording.model, answers);
    for (const line of [...wrong, ...undecided]) t.log(line);
    t.is(wrong.length, 0);
    if (undecided.length > 0) skip(t, othersRan);
  });
}

// The same programs with the build of the thread package that writes traces: the influence of the machine on the
// program is in both.
for (const { name, binary, answers } of traced) {
  if (answers.manual || !hasTimes(answers)) continue;
  sleeping(`${name}: its times are those of the exact trace`, async (t) => {
    // An estimate that the trace contradicts fails at once. A deviation of the run itself may be due to the machine:
    // one of three runs must do what the program says, whatever else the machine did meanwhile.
    let isCalm = true;
    for (let run = 1; run <= 3; run++) {
      const stem = temporaryFile('trace');
      const { file, stderr } = await record(binary, {
        processors: answers.processors,
        args: answers.arguments,
        env: { QUARTZ_ORACLE: stem },
      });
      const model = openModel(file, false); // the hooks' cost is not subtracted, because the trace contains it, too
      const off = timesOff(model, truthOfRun(model, stem), answers);
      const lines = [...off.estimates, ...off.run];
      for (const line of lines) t.log(line);
      if (lines.length > 0)
        t.log(
          `${stderr} waited for CPUs ${((100 * model.cpuWait.waitNs) / model.elapsedNs).toFixed(1)} % of the ` +
            'elapsed time',
        );
      t.is(off.estimates.length, 0);
      if (off.run.length === 0) return;
      isCalm &&= off.calm;
    }
    if (!isCalm) {
      skip(t, othersRan); // the estimates were checked; no run showed what the program would do by itself
      return;
    }
    t.fail('three runs did not do what the program says');
  });
}
