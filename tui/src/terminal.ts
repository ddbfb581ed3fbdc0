/**
 * The terminal side: blessed's screen, keys, mouse, resizing, and restoring the terminal whatever happens. It copies
 * the cells of a frame into the screen's; blessed sends only what changed.
 */
import { defined } from '../../ts-frontend/src/model/index.js';
import blessed from 'blessed';
// the one widget that is used: the package's index loads them all
import lineChart from 'blessed-contrib/lib/widget/charts/line.js';
import { copyCells, type ScreenLine } from './cells.js';
import { Canvas, type Plot } from './draw/canvas.js';
import { ascii, unicode, type Glyphs } from './draw/glyphs.js';
import { edit } from './editor.js';
import { bodyOf, frame, pageOf, settled } from './frame.js';
import { bindingOf, editing, type Effect } from './state/keys.js';
import { pointed, type MouseEvent } from './mouse.js';
import { Pace } from './pace.js';
import type { Action, Size, State } from './state/types.js';
import { initialState, reduce, selectedEntity } from './state/state.js';
import { helpPages } from './views/help.js';
import type { Watch } from './session.js';

export interface TerminalOptions {
  ascii: boolean;
  colour: boolean;
  /** The terminal's font has Braille patterns, which the time line's dots are. */
  dots: boolean;
  refreshMs: number;
  /** A program started for this screen runs until the screen ends. */
  owned: boolean;
  onQuit: () => void;
  /** Called when the screen has taken the terminal, and when it gives it back. */
  onTerminal?: (taken: boolean) => void;
  input?: NodeJS.ReadableStream;
  output?: NodeJS.WritableStream;
  term?: string;
}
interface Key {
  full?: string;
  name?: string;
  ctrl?: boolean;
}

const endSignals = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;
/** How soon the end of the program shows. */
const endCheckMs = 250;
/** CPU time of this process since it began. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

type RawScreen = blessed.Widgets.Screen & {
  lines: ScreenLine[];
  leave(): void;
  enter(): void;
  tput: { brokenACS: boolean };
  program: blessed.BlessedProgram & { sigtstp?: () => void };
};

/** Shows the watch until the user quits; the promise ends then. */
export function show(watch: Watch, options: TerminalOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    new Terminal(watch, options, resolve, reject).begin();
  });
}

function open(options: TerminalOptions): RawScreen {
  const screen = blessed.screen({
    smartCSR: true,
    title: 'quartz top',
    forceUnicode: !options.ascii,
    fullUnicode: false,
    warnings: false,
    dockBorders: false,
    ...(options.input === undefined ? {} : { input: options.input }),
    ...(options.output === undefined ? {} : { output: options.output }),
    ...(options.term === undefined ? {} : { terminal: options.term }),
  } as unknown as blessed.Widgets.IScreenOptions) as RawScreen;
  // Unicode goes out as it is: many terminals draw the line-drawing set wrongly, or not at all, in UTF-8.
  if (!options.ascii) screen.tput.brokenACS = true;
  return screen;
}

// ---- the time line: blessed-contrib's line chart ----

type Line = blessed.Widgets.BoxElement & {
  options: Record<string, unknown>;
  canvasSize: Size;
  setData(series: unknown[]): void;
};
const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/**
 * A chart as large as the plot. What it would leave free of its rectangle, for a border and a line below the axis, is
 * used.
 */
function lineOn(screen: RawScreen, { x, y, width, height }: Plot): Line {
  const line = lineChart({
    screen,
    left: x,
    top: y,
    width,
    height,
    minY: 0,
    wholeNumbersOnly: true,
    style: { text: 'normal', baseline: 'normal', line: 'normal' },
  }) as Line;
  (line as unknown as { calcSize: () => void }).calcSize = () => {
    line.canvasSize = { width: width * 2, height: (height + 1) * 4 };
  };
  screen.append(line); // makes its canvas
  return line;
}

function plotOn(line: Line, { axis, top, step, labels, every, series }: Plot): void {
  const rows = line.canvasSize.height;
  Object.assign(line.options, {
    // The widget's axis is 11 dots from the bottom and its zero 2 dots above; so high is the scale that `top` is its
    // uppermost dot.
    maxY: ((top * (rows - 11)) / (rows - 13)) * (1 + 1e-9),
    xPadding: axis * 2,
    xLabelPadding: axis * 2,
    showNthLabel: every,
  });
  line.options['numYLabels'] = (line.options['maxY'] as number) / (step + 1e-6);
  // Its first point is 2 dots right of the axis: as many more make the last one of ours the rightmost dot.
  const beyond = <T>(values: T[]): T[] => [...values, ...Array<T>(2).fill(defined(values.at(-1)))];
  line.setData(
    series.map(({ colour, values }) => ({ x: beyond(labels), y: beyond(values), style: { line: colours[colour] } })),
  );
}

class Terminal {
  readonly #glyphs: Glyphs;
  readonly #screen: RawScreen;
  readonly #pace: Pace;
  #state: State = initialState();
  #asking = false; // whether to end the program
  #suspended = false; // by Ctrl-Z
  #over = false;
  #canvas = new Canvas(0, 0); // what is shown
  #line: Line | null = null; // the time line over it, where one is
  #timer: NodeJS.Timeout | undefined;
  #interval: number;
  #refreshed = -Infinity;
  #forUserMs = 0; // CPU time that keys, mouse and resizing cost

  constructor(
    readonly watch: Watch,
    readonly options: TerminalOptions,
    readonly resolve: () => void,
    readonly reject: (error: Error) => void,
  ) {
    this.#glyphs = options.ascii ? ascii : { ...unicode, dots: options.dots && options.colour };
    this.#pace = new Pace(options.refreshMs);
    this.#interval = options.refreshMs;
    this.#screen = open(options);
    const box = blessed.box({ parent: this.#screen, top: 0, left: 0, width: '100%', height: '100%' });
    (box as unknown as { render: () => unknown }).render = () => {
      copyCells(this.#canvas, this.#screen.lines, options);
      return null;
    };
  }

  begin(): void {
    for (const signal of endSignals) process.on(signal, this.#finish);
    process.on('uncaughtException', this.#onCrash);
    process.on('SIGCONT', this.#onContinue);
    this.#screen.on(
      'keypress',
      this.#counted((char: string | undefined, key: Key) => {
        this.#onKey(char, key);
      }),
    );
    this.#screen.program.enableMouse();
    this.#screen.program.on(
      'mouse',
      this.#counted((event: MouseEvent) => {
        this.#onMouse(event);
      }),
    );
    this.#screen.on(
      'resize',
      this.#counted(() => {
        this.#render();
      }),
    );
    this.#tick();
    this.#render();
    this.options.onTerminal?.(true);
  }

  // ---- ends ----

  #close(): boolean {
    if (this.#over) return false;
    this.#over = true;
    clearTimeout(this.#timer);
    for (const signal of endSignals) process.off(signal, this.#finish);
    process.off('uncaughtException', this.#onCrash);
    process.off('SIGCONT', this.#onContinue);
    this.#screen.program.disableMouse(); // blessed turns off only what its own elements asked for
    this.#screen.destroy();
    this.options.onTerminal?.(false);
    this.options.onQuit();
    return true;
  }
  readonly #finish = (): void => {
    if (this.#close()) this.resolve();
  };
  readonly #onCrash = (error: Error): void => {
    if (this.#close()) this.reject(error);
  };
  /**
   * After Ctrl-Z and fg the shell has written over the screen. Drawn again once blessed, which hears of it too, has its
   * output again; what is drawn before would go to the shell's screen.
   */
  readonly #onContinue = (): void => {
    setImmediate(() => {
      this.#suspended = false;
      if (this.#over) return;
      this.options.onTerminal?.(true);
      this.#carryOut('redraw');
    });
  };

  // ---- what is shown ----

  get #size(): Size {
    return { width: this.#screen.width as number, height: this.#screen.height as number };
  }

  #draw(): Canvas {
    const scene = this.watch.update(this.#state);
    if (scene === null) {
      const canvas = new Canvas(this.#size.width, this.#size.height);
      canvas.text(0, 0, 'waiting for the first snapshot ...   q quits');
      return canvas;
    }
    if (this.#state.tab === 'source') {
      const id = selectedEntity(this.#state, scene);
      if (this.#state.disassembly) this.watch.showCode(id);
      else this.watch.showSource(scene.model.entities[id]?.file ?? '');
    }
    const shown = this.watch.scene ?? scene;
    this.#state = settled(shown, this.#size, this.#state);
    return frame(shown, this.#size, this.#state, this.#glyphs);
  }
  #render(): void {
    this.#canvas = this.#draw();
    this.#plot(this.#canvas.plot); // before the screen goes through what is on it
    this.#screen.render();
  }
  /** Shows lines over the cells, or takes them away. */
  #plot(plot: Plot | null): void {
    const line = this.#line;
    const { x, y, width, height } = plot ?? { x: 0, y: 0, width: 0, height: 0 };
    if (
      line !== null &&
      (plot === null || line.left !== x || line.top !== y || line.width !== width || line.height !== height)
    ) {
      this.#screen.remove(line);
      this.#line = null;
    }
    if (plot !== null) plotOn((this.#line ??= lineOn(this.#screen, plot)), plot);
  }
  #apply(action: Action): void {
    const { scene } = this.watch;
    if (scene !== null) this.#state = reduce(this.#state, action, scene);
    this.#render();
  }
  #say(text: string): void {
    this.#apply({ type: 'message', text });
  }

  /** Refreshes when it is time to, and looks often for the program's end. */
  #tick(): void {
    const now = performance.now();
    if (!this.#suspended && (now - this.#refreshed >= this.#interval || this.watch.hasEnded)) {
      try {
        if (this.watch.refresh()) this.#render();
      } catch (error) {
        this.#say((error as Error).message);
      }
      this.#interval = this.#pace.next(now, cpuMs() - this.#forUserMs);
      this.#refreshed = now;
    }
    this.#timer = setTimeout(
      () => {
        this.#tick();
      },
      Math.min(this.options.refreshMs, endCheckMs),
    );
  }

  // ---- what the user does ----

  #counted<Arguments extends unknown[]>(react: (...args: Arguments) => void): (...args: Arguments) => void {
    return (...args) => {
      const before = cpuMs();
      react(...args);
      this.#forUserMs += cpuMs() - before;
    };
  }

  #onKey(char: string | undefined, key: Key): void {
    const full = key.full ?? char ?? '';
    if (full === 'return' || full === 'linefeed') return; // blessed sends enter as well
    if (full === 'C-z') {
      this.#suspended = true;
      this.options.onTerminal?.(false);
      this.#screen.program.sigtstp?.();
      setTimeout(() => {
        process.emit('SIGCONT');
      }, 100); // where there is no job control nothing stops it, and nothing would let it go on
      return;
    }
    if (this.#state.editing !== null && full !== 'C-c') {
      const action = editing(this.#state.editing, char, full);
      if (action !== null) this.#apply(action);
      return;
    }
    const binding = bindingOf(full) ?? (char === undefined ? undefined : bindingOf(char));
    if (this.#state.help > 0 && binding?.effect !== 'quit') {
      this.#apply(
        full === 'escape' ? { type: 'escape' } : { type: 'help', pages: helpPages(bodyOf(this.#size), this.#state) },
      );
      return;
    }
    if (this.#asking && binding?.effect !== 'quit') {
      this.#asking = false;
      this.#say('');
      return;
    }
    if (binding?.effect !== undefined) this.#carryOut(binding.effect);
    else if (binding?.action !== undefined) this.#apply(binding.action(pageOf(this.#size, this.#state)));
  }

  #onMouse(event: MouseEvent): void {
    const { scene } = this.watch;
    const action = scene === null ? null : pointed(event, this.#state, scene, this.#size);
    if (action !== null) this.#apply(action);
  }

  #carryOut(effect: Effect): void {
    switch (effect) {
      case 'quit':
        this.#quit();
        return;
      case 'redraw':
        this.#screen.realloc();
        this.#render();
        return;
      case 'reset':
        this.watch.reset();
        this.#state = {
          ...this.#state,
          windowNs: null,
          message: this.watch.isReset ? 'counting from now; R again counts from the start' : 'counting from the start',
        };
        this.#render();
        return;
      case 'write':
        try {
          this.#say(`written to ${this.watch.host.write()}`);
        } catch (error) {
          this.#say((error as Error).message);
        }
        return;
      case 'editor':
        this.#edit();
        return;
    }
  }

  #quit(): void {
    const { scene } = this.watch;
    if (this.options.owned && scene !== null && scene.live.ended === null && !this.#asking) {
      this.#asking = true;
      this.#say('the program still runs: q again ends it and keeps the profile; other keys continue');
    } else this.#finish();
  }

  #edit(): void {
    const { scene } = this.watch;
    const entity = scene === null ? undefined : scene.model.entities[selectedEntity(this.#state, scene)];
    if (entity === undefined || entity.file === '') {
      this.#say('no source file is known for this');
      return;
    }
    this.options.onTerminal?.(false);
    this.#screen.program.disableMouse();
    this.#screen.leave();
    const message = edit(entity);
    this.#screen.enter();
    this.#screen.program.enableMouse();
    this.options.onTerminal?.(true);
    this.#screen.realloc();
    this.#say(message);
  }
}
