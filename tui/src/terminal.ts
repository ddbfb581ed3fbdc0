/**
 * The terminal side: blessed's screen, keys, mouse, resizing, and restoring the terminal whatever happens. It copies the
 * cells of a frame into the screen's; blessed sends only what changed.
 */
import blessed from 'blessed';
import { spawnSync } from 'node:child_process';
import { Canvas } from './canvas.js';
import { ascii, unicode, type Glyphs } from './glyphs.js';
import { bodyOf, bodyTop, frame, pageOf, tabPlaces, tableSize } from './frame.js';
import { bindingOf, type Effect } from './keys.js';
import { Pace } from './pace.js';
import { currentIndex, currentRows, initialState, isTable, reduce, selectedEntity, tableTab, type Action, type Size, type State } from './state.js';
import { columnsThatFit } from './tables.js';
import { helpPages } from './views/help.js';
import { scrollTo } from './views/table.js';
import type { Watch } from './session.js';

export interface TerminalOptions {
  ascii: boolean;
  colour: boolean;
  refreshMs: number;
  /** A program started for this screen runs until the screen ends. */
  owned: boolean;
  onQuit: () => void;
  input?: NodeJS.ReadableStream;
  output?: NodeJS.WritableStream;
  term?: string;
}
/** How soon the end of the program shows. */
const endCheckMs = 250;
/** CPU time of this process since it began. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

interface ScreenLine extends Array<[number, string]> { dirty: boolean }
type RawScreen = blessed.Widgets.Screen & { lines: ScreenLine[]; leave(): void; enter(): void; tput: { brokenACS: boolean }; program: blessed.BlessedProgram & { sigtstp?: () => void } };

/** Copies a canvas into a blessed screen's cells. Without colour, only bold, underline and inverse are kept. */
function copyCells(canvas: Canvas, lines: ScreenLine[], colour: boolean): void {
  const noColour = (0x1ff << 9) | 0x1ff;
  for (let y = 0; y < canvas.height && y < lines.length; y++) {
    const line = lines[y]!;
    for (let x = 0; x < canvas.width && x < line.length; x++) {
      const at = y * canvas.width + x;
      const cell = line[x]!;
      const attr = canvas.attrs[at]!;
      cell[0] = colour ? attr : (attr & ~0x3ffff) | noColour;
      cell[1] = canvas.chars[at]!;
    }
    line.dirty = true;
  }
}

/** Shows the watch until the user quits; the promise ends then. */
export function show(watch: Watch, options: TerminalOptions): Promise<void> {
  const glyphs: Glyphs = options.ascii ? ascii : unicode;
  const screen = blessed.screen({
    smartCSR: true, title: 'quartz top', forceUnicode: !options.ascii, fullUnicode: false, warnings: false, dockBorders: false,
    ...(options.input === undefined ? {} : { input: options.input }), ...(options.output === undefined ? {} : { output: options.output }),
    ...(options.term === undefined ? {} : { terminal: options.term }),
  } as unknown as blessed.Widgets.IScreenOptions) as RawScreen;
  // Unicode goes out as it is: many terminals draw the line-drawing set wrongly, or not at all, in UTF-8.
  if (!options.ascii) screen.tput.brokenACS = true;
  let state: State = initialState();
  let asking = false;
  const size = (): Size => ({ width: screen.width as number, height: screen.height as number });

  const box = blessed.box({ parent: screen, top: 0, left: 0, width: '100%', height: '100%' });
  (box as unknown as { render: () => unknown }).render = () => {
    const canvas = draw();
    copyCells(canvas, screen.lines, options.colour);
    return null;
  };
  const draw = (): Canvas => {
    const scene = watch.update(state);
    if (scene === null) {
      const canvas = new Canvas(size().width, size().height);
      canvas.text(0, 0, 'waiting for the first snapshot ...   q quits');
      return canvas;
    }
    if (state.tab === 'source') watch.showSource(scene.model.entities[selectedEntity(state, scene)]?.file ?? '');
    return frame(watch.scene ?? scene, size(), state, glyphs);
  };
  const apply = (action: Action): void => {
    const scene = watch.scene;
    if (scene !== null) state = reduce(state, action, scene);
    screen.render();
  };

  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let over = false;
    const close = (): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.off(signal, onSignal);
      process.off('uncaughtException', onCrash);
      process.off('SIGCONT', onContinue);
      screen.program.disableMouse(); // blessed turns off only what its own elements asked for
      screen.destroy();
      options.onQuit();
    };
    const finish = (): void => { close(); resolve(); };
    const onSignal = (): void => { finish(); };
    const onCrash = (error: Error): void => { close(); reject(error); };
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, onSignal);
    process.on('uncaughtException', onCrash);
    // After Ctrl-Z and fg the shell has written over the screen. Drawn anew once blessed, which hears of it too, has its output again;
    // what is drawn before would go to the shell's screen.
    let suspended = false;
    const onContinue = (): void => {
      setImmediate(() => {
        suspended = false;
        if (!over) carryOut('redraw');
      });
    };
    process.on('SIGCONT', onContinue);

    let refreshed = -Infinity;
    const pace = new Pace(options.refreshMs);
    let interval = options.refreshMs;
    let forUser = 0; // CPU time that keys, mouse and resizing cost
    const counted = <Arguments extends unknown[]>(react: (...args: Arguments) => void) => (...args: Arguments): void => {
      const before = cpuMs();
      react(...args);
      forUser += cpuMs() - before;
    };
    const tick = (): void => {
      const now = performance.now();
      if (!suspended && (now - refreshed >= interval || watch.hasEnded)) {
        try {
          if (watch.refresh()) screen.render();
        } catch (error) {
          apply({ type: 'message', text: (error as Error).message });
        }
        interval = pace.next(now, cpuMs() - forUser);
        refreshed = now;
      }
      timer = setTimeout(tick, Math.min(options.refreshMs, endCheckMs));
    };

    const carryOut = (effect: Effect): void => {
      const scene = watch.scene;
      switch (effect) {
        case 'quit':
          if (options.owned && scene !== null && scene.live.ended === null && !asking) {
            asking = true;
            apply({ type: 'message', text: 'the program still runs: q again ends it and keeps the profile; other keys go on' });
          } else finish();
          return;
        case 'redraw': screen.realloc(); screen.render(); return;
        case 'reset': {
          watch.reset();
          state = { ...state, windowNs: null, message: watch.isReset ? 'counting from now; R again counts from the start' : 'counting from the start' };
          screen.render();
          return;
        }
        case 'write':
          try { apply({ type: 'message', text: `written to ${watch.host.write()}` }); }
          catch (error) { apply({ type: 'message', text: (error as Error).message }); }
          return;
        case 'editor': {
          const entity = scene === null ? undefined : scene.model.entities[selectedEntity(state, scene)];
          if (entity === undefined || entity.file === '') { apply({ type: 'message', text: 'no source file is known for this' }); return; }
          const editor = process.env['VISUAL'] ?? process.env['EDITOR'] ?? 'vi';
          screen.program.disableMouse();
          screen.leave();
          const result = spawnSync('sh', ['-c', `${editor} "$@"`, editor, `+${Math.max(1, entity.line)}`, entity.file], { stdio: 'inherit' });
          screen.enter();
          screen.program.enableMouse();
          screen.realloc();
          apply({ type: 'message', text: result.status === 0 ? '' : `${editor} ended with status ${result.status ?? 'unknown'}: set EDITOR` });
          return;
        }
      }
    };

    const onKey = (char: string | undefined, key: { full?: string; name?: string; ctrl?: boolean }): void => {
      const full = key.full ?? char ?? '';
      if (full === 'return' || full === 'linefeed') return; // blessed sends enter as well
      if (full === 'C-z') {
        suspended = true;
        screen.program.sigtstp?.();
        setTimeout(() => { process.emit('SIGCONT'); }, 100); // where there is no job control nothing stops it, and nothing would let it go on
        return;
      }
      if (state.editing !== null && full !== 'C-c') {
        if (full === 'enter') apply({ type: 'filter-done' });
        else if (full === 'escape') apply({ type: 'escape' });
        else if (full === 'backspace') apply({ type: 'filter-text', text: state.editing.slice(0, -1) });
        else if (full === 'C-u') apply({ type: 'filter-text', text: '' });
        else if (char !== undefined && char.length === 1 && char >= ' ') apply({ type: 'filter-text', text: state.editing + char });
        return;
      }
      const binding = bindingOf(full) ?? (char === undefined ? undefined : bindingOf(char));
      if (state.help > 0 && binding?.effect !== 'quit') {
        apply(full === 'escape' ? { type: 'escape' } : { type: 'help', pages: helpPages(bodyOf(size()), state) });
        return;
      }
      if (asking && binding?.effect !== 'quit') { asking = false; apply({ type: 'message', text: '' }); return; }
      if (binding?.effect !== undefined) carryOut(binding.effect);
      else if (binding?.action !== undefined) apply(binding.action(pageOf(size(), state)));
    };
    const onMouse = (event: { action: string; x: number; y: number }): void => {
      if (event.action === 'wheelup') { apply({ type: 'move', by: -3 }); return; }
      if (event.action === 'wheeldown') { apply({ type: 'move', by: 3 }); return; }
      const scene = watch.scene;
      if (event.action !== 'mousedown' || scene === null) return;
      if (event.y === 1) {
        const place = tabPlaces(size().width).find(({ x, width }) => event.x >= x && event.x < x + width);
        if (place !== undefined) apply({ type: 'tab', tab: place.tab });
        return;
      }
      if (!isTable(state.tab) || state.zoom) return;
      const part = tableSize({ width: size().width, height: size().height - bodyTop - 1 });
      const row = event.y - bodyTop;
      if (event.x >= part.width || row < 0 || row >= part.height) return;
      const tab = tableTab(state);
      if (row === 0) {
        let x = 1;
        for (const column of columnsThatFit(tab, part.width, state.tables[tab].sort)) {
          const end = column.width === 0 ? part.width : x + column.width;
          if (event.x >= x && event.x < end) { apply({ type: 'sort-column', column: column.id }); return; }
          x = end + 1;
        }
        return;
      }
      const rows = currentRows(state, scene);
      const index = currentIndex(state, scene, rows);
      const target = scrollTo(index, part.height - 1, rows.length) + row - 1;
      if (target === index) apply({ type: 'enter' });
      else if (target < rows.length) apply({ type: 'select-row', index: target });
    };
    screen.on('keypress', counted(onKey));
    screen.program.enableMouse();
    screen.program.on('mouse', counted(onMouse));
    screen.on('resize', counted(() => { screen.render(); }));
    tick();
    screen.render();
  });
}
