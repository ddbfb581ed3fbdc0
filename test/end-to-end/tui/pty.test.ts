/** quartz top in a real terminal (a pseudo-terminal of script(1)): keys, resizing, ends, wrong usage. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import xterm from '@xterm/headless';
import test, { type ExecutionContext } from 'ava';
import { root } from '../../support/root.js';
import { needing } from '../../support/capabilities.js';
import { temporaryDirectory } from '../../support/temporary.js';

const quartz = join(root, 'ts-frontend/bin/quartz');
const program = (name: string): string => join(root, 'build/test/known-answers/threadlib-programs', name);

/** Ends processes that hang. */
const limitMs = 300_000;

class Pty {
  readonly folder = temporaryDirectory();
  readonly emulator = new xterm.Terminal({ cols: 100, rows: 30, allowProposedApi: true });
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  constructor(command: string) {
    // The inner shell prints the pseudo-terminal's name, so that its size can be changed from outside.
    this.child = spawn(
      'script',
      ['-qefc', `tty > tty; stty cols 100 rows 30; ${command}; echo "status=$?"`, '/dev/null'],
      {
        cwd: this.folder,
        env: { ...process.env, TERM: 'xterm-256color', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' },
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    this.child.stdout!.on('data', (bytes: Buffer) => {
      this.emulator.write(bytes);
    });
    this.exited = new Promise((resolve) => {
      this.child.on('exit', resolve);
    });
  }
  type(keys: string): void {
    this.child.stdin!.write(keys);
  }
  lines(): string[] {
    const { active } = this.emulator.buffer;
    return Array.from(
      { length: this.emulator.rows },
      (_, y) => active.getLine(active.baseY + y)?.translateToString(true) ?? '',
    );
  }
  async until(wanted: (text: string) => boolean): Promise<string> {
    for (let waited = 0; waited < limitMs; waited += 50) {
      const text = this.lines().join('\n');
      if (wanted(text)) return text;
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    }
    throw new Error(`never seen; the screen shows:\n${this.lines().join('\n')}`);
  }
  resize(width: number, height: number): void {
    this.emulator.resize(width, height);
    spawnSync('stty', [
      '-F',
      readFileSync(join(this.folder, 'tty'), 'utf8').trim(),
      'cols',
      String(width),
      'rows',
      String(height),
    ]);
  }
  end(): void {
    this.child.kill('SIGKILL'); // it blocks all signals that it can; the kernel hangs up on processes at its terminal
  }
}

needing('terminal')('watches a program to its end, resized and driven by keys, and keeps the profile', async (t) => {
  const pty = new Pty(`${quartz} top -- ${program('serial_then_parallel')}`);
  t.teardown(() => {
    pty.end();
  });
  await pty.until((text) => text.includes('What limits this program'));
  pty.resize(120, 40);
  await pty.until((text) => (text.split('\n')[39] ?? '').includes('q quit'));
  pty.type('2');
  await pty.until((text) => text.includes('[2 Procedures]'));
  await pty.until((text) => text.includes('exited with status 0') || text.includes('program has ended'));
  pty.type('q');
  const text = await pty.until((now) => now.includes('status='));
  t.regex(text, /status=0/);
  // a long path of the command is wrapped
  t.true(text.replaceAll('\n', '').includes('quartz report serial_then_parallel.quartz'), text);
  t.is(pty.emulator.buffer.active.type, 'normal');
  t.true(existsSync(join(pty.folder, 'serial_then_parallel.quartz')));
  const check = spawnSync(quartz, ['check', join(pty.folder, 'serial_then_parallel.quartz')], { encoding: 'utf8' });
  t.is(check.status, 0, check.stderr);
});

needing('terminal')('quitting a program that never ends by itself ends it, after a question', async (t) => {
  const pty = new Pty(`${quartz} top -- ${program('endless')}`);
  t.teardown(() => {
    pty.end();
  });
  const pid = Number(/pid (\d+)/.exec(await pty.until((text) => /pid \d+/.test(text)))![1]);
  pty.type('q');
  await pty.until((text) => text.includes('q again'));
  pty.type('q');
  await pty.until((text) => text.includes('status='));
  t.throws(() => process.kill(pid, 0), undefined, 'the program is gone');
});

needing('terminal')('a wrapper: the screen goes on to what it started', async (t) => {
  const computes = join(root, 'build/test/end-to-end/pthread-layer/attach_while_busy');
  const pty = new Pty(`${quartz} top -- timeout 1000 ${computes}`);
  t.teardown(() => {
    pty.end();
  });
  await pty.until((text) => text.includes('What limits this program'));
  pty.type('2');
  await pty.until((text) => /\bcomputes\b/.test(text) && text.includes('attach_while_busy'));
  pty.type('q');
  await pty.until((text) => text.includes('q again'));
  pty.type('q');
  const text = await pty.until((now) => now.includes('status='));
  t.true(text.replaceAll('\n', '').includes('quartz report timeout.quartz'), text);
  t.deepEqual(
    readdirSync(pty.folder).filter((name) => name.endsWith('.quartz')),
    ['timeout.quartz'],
  );
  const report = spawnSync(quartz, ['report', join(pty.folder, 'timeout.quartz')], { encoding: 'utf8' });
  t.regex(report.stdout, /\bcomputes\b/);
});

needing('terminal')('Ctrl-C gives the terminal back', async (t) => {
  const pty = new Pty(`${quartz} top -- ${program('endless')}`);
  t.teardown(() => {
    pty.end();
  });
  await pty.until((text) => text.includes('What limits this program'));
  t.not(pty.emulator.modes.mouseTrackingMode, 'none');
  pty.type('\x03\x03');
  await pty.until((text) => text.includes('status='));
  restored(t, pty);
});

/** The previous screen, and no mode of Quartz left set. */
function restored(t: ExecutionContext, { emulator }: Pty): void {
  t.is(emulator.buffer.active.type, 'normal');
  t.is(emulator.modes.mouseTrackingMode, 'none');
  t.false(emulator.modes.applicationCursorKeysMode);
}

needing('terminal')('a failure of the screen itself gives the terminal back, and says what happened', async (t) => {
  const pty = new Pty(`NODE_OPTIONS='--require ./fail.cjs' ${quartz} top -- ${program('endless')}`);
  t.teardown(() => {
    pty.end();
  });
  // Fails when the screen is shown, at no other time.
  writeFileSync(
    join(pty.folder, 'fail.cjs'),
    `const timer = setInterval(() => {
    if (require('fs').existsSync('now')) { clearInterval(timer); throw new Error('provoked'); }
  }, 20); timer.unref();`,
  );
  const pid = Number(/pid (\d+)/.exec(await pty.until((text) => /pid \d+/.test(text)))![1]);
  writeFileSync(join(pty.folder, 'now'), '');
  const text = await pty.until((now) => now.includes('status='));
  restored(t, pty);
  t.regex(text, /provoked/);
  t.regex(text, /status=125/);
  t.throws(() => process.kill(pid, 0), undefined, 'the program that was started for the screen is gone with it');
});

needing('terminal')('kill -TERM gives the terminal back and ends the program', async (t) => {
  const pty = new Pty(`${quartz} top -- ${program('endless')}`);
  t.teardown(() => {
    pty.end();
  });
  const pid = Number(/pid (\d+)/.exec(await pty.until((text) => /pid \d+/.test(text)))![1]);
  process.kill(screenOf(pid), 'SIGTERM');
  await pty.until((text) => text.includes('status='));
  restored(t, pty);
  t.throws(() => process.kill(pid, 0));
});

needing('terminal')('a terminal that is closed ends the program that was started in it', async (t) => {
  const pty = new Pty(`${quartz} top -- ${program('endless')}`);
  t.teardown(() => {
    pty.end();
  });
  const pid = Number(/pid (\d+)/.exec(await pty.until((text) => /pid \d+/.test(text)))![1]);
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      /* it has ended */
    }
  });
  pty.child.kill('SIGKILL'); // the terminal disappears with script(1), which owns it
  t.true(await ends(pid));
});

needing('terminal')(
  'kill -KILL ends the program that was started for the screen, and its profile is whole',
  async (t) => {
    const pty = new Pty(`${quartz} top -o left.quartz -- ${program('endless')}`);
    t.teardown(() => {
      pty.end();
    });
    const pid = Number(/pid (\d+)/.exec(await pty.until((text) => /pid \d+/.test(text)))![1]);
    t.teardown(() => {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        /* it has ended */
      }
    });
    const sampler = parent(pid);
    process.kill(screenOf(pid), 'SIGKILL');
    t.true(await ends(pid));
    t.true(await ends(sampler));
    const check = spawnSync(quartz, ['check', join(pty.folder, 'left.quartz')], { encoding: 'utf8' });
    t.is(check.status, 0, check.stderr);
  },
);

needing('terminal')('after kill -KILL the terminal is as it was before', async (t) => {
  const pty = new Pty(`stty -a > before; ${quartz} top -- ${program('endless')}; read reply; stty -a > after`);
  t.teardown(() => {
    pty.end();
  });
  const pid = Number(/pid (\d+)/.exec(await pty.until((text) => /pid \d+/.test(text)))![1]);
  t.not(pty.emulator.modes.mouseTrackingMode, 'none');
  process.kill(screenOf(pid), 'SIGKILL');
  await pty.until((text) => text.includes('quartz: the live screen was killed')); // its last action
  pty.type('\r');
  await pty.until((text) => text.includes('status='));
  restored(t, pty);
  t.is(readFileSync(join(pty.folder, 'after'), 'utf8'), readFileSync(join(pty.folder, 'before'), 'utf8'));
});

needing('terminal')('kill -KILL leaves a program that was only watched, and ends the sampler', async (t) => {
  const endless = spawn(program('endless'), { stdio: 'ignore' });
  t.teardown(() => {
    endless.kill('SIGKILL');
  });
  const pty = new Pty(`${quartz} top -o watched.quartz -p ${endless.pid}`);
  t.teardown(() => {
    pty.end();
  });
  await pty.until((text) => /pid \d+/.test(text));
  const sampler = samplerOf(endless.pid!);
  process.kill(parent(sampler), 'SIGKILL');
  t.true(await ends(sampler));
  t.is(endless.exitCode ?? endless.signalCode, null, 'it runs on');
  t.is(spawnSync(quartz, ['check', join(pty.folder, 'watched.quartz')]).status, 0);
});

async function ends(pid: number): Promise<boolean> {
  for (let waited = 0; waited < limitMs; waited += 50) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  return false;
}

/** The sampler that observes a process. */
const samplerOf = (pid: number): number =>
  Number(readdirSync('/proc').find((name) => /^\d+$/.test(name) && isSampler(name, pid)));
function isSampler(process: string, watched: number): boolean {
  try {
    return new RegExp(`quartz-sampler\0attach\0.*\0${watched}\0$`).test(
      readFileSync(`/proc/${process}/cmdline`, 'utf8'),
    );
  } catch {
    return false; // it has ended
  }
}

const parent = (pid: number): number =>
  Number(
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')[1],
  );

/** The process of the screen: the parent of the sampler, which is the parent of the program. */
const screenOf = (program: number): number => parent(parent(program));

const already = join(root, 'build/test/end-to-end/pthread-layer/attach_while_busy'); // where the pthread layer is built
const withLayer = { QUARTZ_ATTACH: '1', LD_PRELOAD: join(root, 'build/pthread-layer/libquartz-pthread.so') };
for (const [prepared, environment, needs] of [
  ['with the pthread layer', withLayer, []],
  // The name of what computes all the time comes from samples.
  ['from outside', {}, ['process_vm_readv', 'ptrace', 'perf_event_open']],
] as const)
  needing(
    'terminal',
    `file:${already}`,
    ...needs,
  )(
    `watches a pthread program that runs already, ${prepared}: all threads are there; quitting leaves it alone`,
    async (t) => {
      const watched = spawn(already, {
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      t.teardown(() => {
        watched.kill();
      });
      await new Promise((resolve) => {
        watched.stdout.once('data', resolve);
      });
      const pty = new Pty(`${quartz} top -p ${watched.pid}`);
      t.teardown(() => {
        pty.end();
      });
      await pty.until((text) => /pid \d+/.test(text));
      pty.type('4');
      await pty.until((text) =>
        ['computes', 'idle-worker', 'sleeps', 'main'].every((name) => text.includes(`${name} [thread]`)),
      );
      pty.type('q');
      t.regex(await pty.until((text) => text.includes('status=')), /status=0/);
      t.is(watched.exitCode, null);
      t.is(watched.signalCode, null);
    },
  );

needing('terminal')(
  'a program that is killed leaves the last screen up, says so, and its profile is whole',
  async (t) => {
    const pty = new Pty(`${quartz} top -o killed.quartz -- ${program('endless')}`);
    t.teardown(() => {
      pty.end();
    });
    const pid = Number(/pid (\d+)/.exec(await pty.until((text) => /pid \d+/.test(text)))![1]);
    process.kill(pid, 'SIGKILL');
    await pty.until((text) => text.includes('killed by SIGKILL') && text.includes('What limits this program'));
    pty.type('q');
    t.regex(await pty.until((text) => text.includes('status=')), /status=137/);
    restored(t, pty);
    t.is(spawnSync(quartz, ['check', join(pty.folder, 'killed.quartz')]).status, 0);
  },
);

needing('terminal')('a file that is no profile: one line, and no screen', async (t) => {
  const pty = new Pty(`${quartz} top nothing.quartz`);
  t.teardown(() => {
    pty.end();
  });
  const text = await pty.until((now) => now.includes('status='));
  t.regex(text, /nothing\.quartz does not exist/);
  t.regex(text, /status=125/);
});

needing('terminal')('after -- stands a program, whatever its name', async (t) => {
  const pty = new Pty(`${quartz} top -- ./prog.quartz`);
  t.teardown(() => {
    pty.end();
  });
  const text = await pty.until((now) => now.includes('status='));
  t.regex(text, /\.\/prog\.quartz cannot be run: No such file/);
  t.regex(text, /status=127/);
});

test('off a terminal it says what to use instead', (t) => {
  const result = spawnSync(quartz, ['top', '--', program('balanced')], { encoding: 'utf8' });
  t.is(result.status, 2);
  t.regex(result.stderr, /^quartz: the live screen needs a terminal; use: quartz run/);
  t.is(result.stderr.trim().split('\n').length, 1);
});

needing('terminal')("a set: its ranks as a map; Enter shows one rank's screen, q the map again", async (t) => {
  const pty = new Pty(
    `${quartz} record -q -o solver.0.quartz -- ${program('serial_then_parallel')}; ` +
      `${quartz} record -q -o solver.1.quartz -- ${program('pipeline')}; ` +
      `${quartz} merge -q solver.*.quartz -o run.quartzset; ${quartz} top run.quartzset`,
  );
  t.teardown(() => {
    pty.end();
  });
  await pty.until((text) => text.includes('2 ranks') && text.includes('rank 0 on'));
  pty.type('\r');
  await pty.until((text) => text.includes('[1 Overview]') && text.includes('finished profile'));
  pty.type('q');
  await pty.until((text) => text.includes('2 ranks') && text.includes('rank 0 on'));
  pty.type('q');
  const text = await pty.until((now) => now.includes('status='));
  t.regex(text, /status=0/);
  restored(t, pty);
});
