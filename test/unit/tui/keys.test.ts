/** The effects of keys and the mouse on the live screen. */
import test from 'ava';
import { bindings } from '../../../tui/src/state/keys.js';
import { small } from './example.js';
import { Memory, Session } from './screen.js';

test.serial('Enter goes into the finding at the top', async (t) => {
  const session = new Session(new Memory(small()), { width: 60, height: 15 });
  await session.settle((lines) => lines[0]!.includes('prog'));
  for (let k = 0; k < 20 && !session.lines()[4]!.startsWith('2. '); k++) await session.type('j');
  t.true(session.lines()[4]!.startsWith('2. '), session.lines().join('\n'));
  await session.type('\r');
  t.regex(session.lines()[2]!, /^all › main/);
  await session.quit();
});

test.serial('Enter goes into the children, Backspace up again', async (t) => {
  const session = new Session(new Memory(small()), { width: 100, height: 30 });
  await session.type('2');
  t.regex(session.lines()[4]!, /^>.*main$/);
  await session.type('\r');
  t.regex(session.lines()[2]!, /^all › main/);
  t.true(session.lines().some((line) => / setup$/.test(line)));
  await session.type('g', '\r');
  t.regex(session.lines()[2]!, /^all › main › \w+/);
  await session.type('\x7f', '\x7f');
  t.notRegex(session.lines()[2]!, /›/);
  await session.quit();
});

test.serial('contexts open and fold, are found by name, and are shown by callers and by file', async (t) => {
  const session = new Session(new Memory(small()), { width: 120, height: 30 });
  await session.settle((lines) => lines[0]!.includes('prog'));
  const names = (lines: readonly string[]): string[] =>
    lines
      .slice(4, -1)
      .flatMap((line) => / ([-+] \S+| {2}\S+)(?: \[\w+\])?(?: {2}\S+:\d+)?$/.exec(line)?.[1]?.trim() ?? []);
  const open = await session.type('7');
  t.true(names(open).includes('- main'), names(open).join());
  t.true(names(open).some((name) => name === 'setup'));
  const folded = await session.type('j', '\r');
  t.regex(
    folded.find((line) => line.startsWith('>'))!,
    /\+ main/,
  );
  t.false(names(folded).includes('setup'));
  const again = await session.type('\r');
  t.deepEqual(names(again), names(open));
  const found = await session.type('/', ...Array.from('inner'), '\r');
  t.deepEqual(names(found), ['- prog', '- main', '- work', 'inner']);
  t.regex((await session.type('G'))[3 + 4]!, /^>.* inner$/);
  t.regex(
    (await session.type('\x7f')).find((line) => line.startsWith('>'))!,
    /- work/,
  );
  const callers = await session.type('\x1b', 'v');
  t.true(callers[3]!.includes('callers'));
  const flat = await session.type('v');
  t.true(flat[3]!.includes('module, file, procedure'));
  t.true((await session.type('s'))[3]!.includes('time▼'));
  await session.quit();
});

test.serial('the source tab shows the selected context', async (t) => {
  const session = new Session(new Memory(small()), { width: 120, height: 30 });
  await session.settle((lines) => lines[0]!.includes('prog'));
  await session.type('7', '/', ...Array.from('setup'), '\r', 'G');
  t.regex((await session.type('8'))[3]!, /^setup {2}.*prog\.c:2/);
  await session.quit();
});

test.serial('z shows the selected one alone, the next one with j, and the table again', async (t) => {
  const session = new Session(new Memory(small()), {});
  await session.settle((lines) => lines[0]!.includes('prog'));
  const table = await session.type('5');
  const first = await session.type('z');
  t.regex(first[3]!, /^end \[join\]$/);
  t.false(
    first.some((line) => line.includes('blocked▼')),
    'no table',
  );
  const second = await session.type('j');
  t.regex(second[3]!, /^table \[mutex\]$/);
  for (const title of ['queue length over time', 'who waits', 'who holds it', 'its threads spend'])
    t.true(
      second.some((line) => line.includes(title)),
      title,
    );
  t.deepEqual(await session.type('k', '\x1b'), table);
  await session.quit();
});

test.serial('the filter keeps names that contain it; Esc clears it', async (t) => {
  const session = new Session(new Memory(small()));
  await session.type('2', '/', 's', 'e', 't', '\r');
  const rows = (): string[] =>
    session
      .lines()
      .slice(4, 14)
      .filter((line) => /\d/.test(line) && !line.startsWith('─'));
  t.true(rows()[0]!.includes('setup'));
  t.false(
    session
      .lines()
      .slice(4, 10)
      .some((line) => line.includes('finish')),
  );
  await session.type('\x1b');
  t.true(
    session
      .lines()
      .slice(4, 14)
      .some((line) => line.includes('finish')),
  );
  await session.quit();
});

test.serial('sorting by each column, and reversing', async (t) => {
  const session = new Session(new Memory(small()), { width: 120, height: 30 });
  await session.type('2');
  const marked = (): string => /(\S+)[▼▲]/.exec(session.lines()[3]!)?.[1] ?? '';
  t.is(marked(), 'NPT');
  const seen = new Set([marked()]);
  for (let k = 0; k < 10; k++) {
    await session.type('s');
    seen.add(marked());
  }
  t.true(seen.size >= 9, [...seen].join(' '));
  const direction = (): string => /[▼▲]/.exec(session.lines()[3]!)![0];
  const before = direction();
  await session.type('r');
  t.not(direction(), before);
  await session.quit();
});

test.serial('windows, freezing, going back and marking show what they say', async (t) => {
  const host = new Memory(small());
  const session = new Session(host, { width: 120, height: 30 });
  await session.settle((lines) => lines[0]!.includes('1.00 s'));
  host.raw = small(2);
  await session.settle((lines) => lines[0]!.includes('2.00 s'));
  await session.type('f');
  t.regex(session.lines()[0]!, /frozen at 2\.00 s/);
  await session.type('\x1b[D');
  t.regex(session.lines()[0]!, /frozen at 1\.00 s/);
  host.raw = small(4);
  await session.settle((lines) => lines[0]!.includes('4.00 s'));
  t.regex(session.lines()[0]!, /frozen at 1\.00 s/, 'a frozen screen stays where it is');
  await session.type('m', 'f', '2');
  t.regex(session.lines()[2]!, /compared with 1\.00 s/);
  t.true(session.lines()[4]!.includes('+0 %') || session.lines()[4]!.includes('0 %'));
  await session.type('m', 't', 't');
  t.regex(session.lines()[2]!, /last 5\.00 s/);
  await session.quit();
});

test.serial('w writes a snapshot, and says where', async (t) => {
  const host = new Memory(small());
  const session = new Session(host);
  await session.type('w');
  t.is(host.written, 1);
  t.true(session.lines()[23]!.includes('snapshot-1.quartz'));
  await session.quit();
});

test.serial('the end of the program leaves the last screen up, and says so', async (t) => {
  const host = new Memory(small());
  const session = new Session(host, { owned: true });
  await session.settle((lines) => lines[0]!.includes('1.00 s'));
  host.raw = small(2);
  host.why = 'killed by SIGKILL';
  const lines = await session.settle((now) => now[0]!.includes('killed by SIGKILL'));
  t.true(lines[0]!.includes('2.00 s'), 'the last snapshot is shown');
  t.true(lines.some((line) => line.includes('What limits this program')));
  await session.quit();
  t.true(session.over);
});

test.serial('quitting a program that runs is asked for twice', async (t) => {
  const session = new Session(new Memory(small()), { owned: true });
  await session.type('q');
  t.false(session.over);
  t.true(session.lines()[23]!.includes('q again'));
  await session.type('x');
  t.false(session.lines()[23]!.includes('q again'));
  await session.type('q');
  await session.quit();
  t.true(session.over);
});

test.serial('the mouse selects, sorts and changes tabs', async (t) => {
  const session = new Session(new Memory(small()), { width: 100, height: 30 });
  await session.type('2');
  await session.click(5, 5);
  t.true(session.lines()[5]!.startsWith('>'));
  await session.click(session.lines()[3]!.indexOf('self') + 1, 3);
  t.regex(session.lines()[3]!, /self▼/);
  await session.click(session.lines()[1]!.indexOf('Threads'), 1);
  t.true(session.lines()[1]!.includes('[4 Threads]'));
  await session.quit();
});

test.serial('the help names every key', async (t) => {
  const session = new Session(new Memory(small()), { width: 120, height: 60 });
  const text = (await session.type('?')).join('\n');
  for (const { shown, does } of bindings) {
    t.true(text.includes(shown), shown);
    t.true(text.includes(does.slice(0, 30)), does);
  }
  await session.quit();
});

test.serial('help that does not fit has pages; Esc closes it at once', async (t) => {
  const session = new Session(new Memory(small()), { width: 80, height: 24 });
  let seen = '';
  let lines = await session.type('?');
  const pages = Number(/page 1 of (\d+)/.exec(lines[3]!)?.[1]);
  t.true(pages > 1, lines[3]);
  for (let page = 1; page <= pages; page++) {
    t.true(lines[3]!.includes(`page ${page} of ${pages}`), lines[3]);
    seen += lines.join('\n');
    lines = await session.type(' ');
  }
  t.false(lines[3]!.includes('Help'), 'the key after the last page closes it');
  for (const { shown } of bindings) t.true(seen.includes(shown), shown);
  t.true((await session.type('?'))[3]!.includes('Help'));
  t.false((await session.type('\u001b'))[3]!.includes('Help'));
  await session.quit();
});

test.serial('what was written over the screen while it was suspended is gone when it goes on', async (t) => {
  const session = new Session(new Memory(small()));
  const before = await session.settle((lines) => lines[0]!.includes('prog'));
  await new Promise<void>((resolve) => {
    session.emulator.write('\x1b[H\x1b[J[1]+  Stopped', resolve);
  });
  t.true(session.lines()[0]!.includes('Stopped'));
  process.emit('SIGCONT');
  t.deepEqual(await session.settle((lines) => lines[0]!.includes('prog')), before);
  await session.quit();
});

test.serial('the terminal is given back as it was', async (t) => {
  const session = new Session(new Memory(small()));
  await session.type('2');
  t.is(session.emulator.buffer.active.type, 'alternate');
  t.true(session.keyboard.isRaw);
  await session.quit();
  await session.settle(() => session.emulator.buffer.active.type === 'normal');
  t.is(session.emulator.buffer.active.type, 'normal');
  t.false(session.keyboard.isRaw);
});

test.serial('the flame graph: bars are selected by keys and mouse, zoomed, and found by name', async (t) => {
  const session = new Session(new Memory(small()), { width: 100, height: 30 });
  await session.settle((lines) => lines[0]!.includes('prog'));
  const selected = (): string => session.lines()[27]!.trim();
  const bars = (row: number): string[] =>
    session
      .lines()
      [4 + row]!.split(/[^\w>]+/)
      .filter((word) => word !== '');
  await session.type('0');
  t.regex(session.lines()[1]!, /\[0 Flame\]/);
  t.regex(selected(), /^prog {2}1\.00 s \(100 %\)/);
  t.deepEqual([bars(0), bars(1), bars(2)], [['>prog'], ['main'], ['work', 'setup', 'finish']]);
  await session.type('j', 'j');
  t.regex(selected(), /^work {2}.*of 4 busy/);
  await session.type('>');
  t.regex(selected(), /^setup /);
  t.regex((await session.type('>', '>'))[29]!, /no narrower one beside this/);
  // A zoomed bar fills the width; Backspace gives its caller the width again, Esc all of the program.
  await session.type('<', '\r');
  t.deepEqual(bars(0), ['>setup']);
  t.regex((await session.type('\r'))[29]!, /fills the width already/);
  await session.type('\x7f');
  t.deepEqual(bars(0), ['main']);
  await session.type('\x1b');
  t.deepEqual(bars(0), ['>prog']);
  // Found by name: underlined, and how much of the time is in them.
  t.regex((await session.type('/', ...Array.from('work'), '\r'))[3]!, /in "work" \(underlined\): \d+ ms/);
  await session.type('\x1b');
  // A click selects, a second one zooms.
  await session.click(80, 6);
  t.regex(selected(), /^(setup|finish) /);
  const name = selected().split(' ')[0]!;
  await session.click(80, 6);
  t.deepEqual(bars(0), [`>${name}`]);
  // From the tree, all contexts of the selected row as one; the source is that of the selected bar.
  await session.type('7', 'g', 'j', 'z');
  t.regex(session.lines()[1]!, /\[0 Flame\]/);
  t.deepEqual(bars(0), ['>main']);
  t.regex((await session.type('8'))[3]!, /main/);
  await session.type('0', 'z');
  t.deepEqual(bars(0), ['>prog']);
  await session.quit();
});
