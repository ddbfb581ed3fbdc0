/** Programs in other languages than C and C++, where their compilers are installed. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/root.js';
import { record, sampler, start } from '../../support/record.js';
import { needing } from '../../support/capabilities.js';
import { temporaryDirectory } from '../../support/temporary.js';

const directory = temporaryDirectory();
function compile(tool: string, args: string[]): void {
  execFileSync(tool, args, { stdio: 'pipe', cwd: directory });
}

for (const mangling of ['as usual', 'v0']) {
  const built = join(directory, `contended-${mangling.replace(' ', '-')}`);
  needing('tool:rustc')(
    `Rust, names ${mangling}: a lock by the call that waits for it, places in the program`,
    async (t) => {
      compile('rustc', [
        '-O',
        '-g',
        ...(mangling === 'v0' ? ['-C', 'symbol-mangling-version=v0'] : []),
        join(root, 'test/end-to-end/pthread-layer/programs/contended.rs'),
        '-o',
        built,
      ]);
      const { model, status } = await record(built);
      t.is(status, 3);
      const names = model.entities.map(({ name }) => name);
      for (const name of names) t.notRegex(name, /^_R|17h[0-9a-f]{16}|\$LT\$|::h[0-9a-f]{16}$/);
      const lock = model.entities.find(({ rawKind, name }) => rawKind === 'futex' && /\block/.test(name));
      t.regex(lock?.name ?? names.join(', '), /::lock\w* at contended\.rs:9$/);
      t.true((lock?.states.blocked.ns ?? 0) > 100e6);
      t.is(
        model.findings[0]?.kind === 'io' ? model.findings[1]?.kind : model.findings[0]?.kind,
        'lock-contention',
        JSON.stringify(model.findings.map(({ facts }) => facts)),
      );
      const joined = model.entities.find(({ rawKind }) => rawKind === 'join');
      t.regex(joined?.file ?? '', /contended\.rs$/);
      const threads = new Set(
        model.entities.filter(({ kind, id }) => kind === 'thread' && id !== 0).map(({ name }) => name),
      );
      t.false(
        [...threads].some((name) => /thread_start|^_|std::/.test(name)),
        [...threads].join(', '),
      );
    },
  );
}

const source = join(directory, 'loops.go');
writeFileSync(
  source,
  'package main\nimport "os"\nfunc main() { done := make(chan int); go func() { done <- 5 }(); os.Exit(<-done) }\n',
);
needing('tool:go')('Go, statically linked: runs as it would, and is watched from outside if it lasts', async (t) => {
  compile('go', ['build', '-o', join(directory, 'loops'), source]);
  const { status, stderr } = await start(sampler, [
    'record',
    '-o',
    join(directory, 'loops.quartz'),
    '--',
    join(directory, 'loops'),
  ]).ended;
  t.is(status, 5);
  t.regex(
    stderr,
    /^quartz: (no profile: \S*)?loops is statically linked(, and cannot be watched|: it is watched) from outside/,
  );
});
