/**
 * The terminal side: blessed's screen, keys, mouse, resizing, and restoring the terminal whatever happens. It copies
 * the cells of what a content draws into the screen's; blessed sends only what changed.
 */
import { defined } from '../../ts-frontend/src/model/index.js';
import blessed from 'blessed';
// the one widget that is used: the package's index loads them all
import lineChart from 'blessed-contrib/lib/widget/charts/line.js';
import { copyCells, type ScreenLine } from './cells.js';
import { Canvas, type Plot } from './draw/canvas.js';
import { ascii, unicode, type Glyphs } from './draw/glyphs.js';
import type { MouseEvent } from './mouse.js';
import { Pace } from './pace.js';
import type { Size } from './state/types.js';

/** What a content asks of the terminal: to close, to draw all of it anew, or to lend the terminal to an editor. */
export type Request = 'close' | 'redraw' | 'editor';

/** What fills the screen and answers its keys. It knows no terminal. */
export interface Content {
  /** Looks for something new to show; answers whether there is. An Error's message is one line for the user. */
  refresh(): boolean;
  /** Something has happened that should show before the next refresh is due. */
  readonly urgent: boolean;
  draw(size: Size, glyphs: Glyphs): Canvas;
  /** `full`: blessed's name of the key; `char`: what it writes, if anything. */
  key(full: string, char: string | undefined, size: Size): Request | null;
  mouse(event: MouseEvent, size: Size): void;
  /** Shows one line to the user. */
  say(text: string): void;
  /** Runs the editor that was asked for, on a terminal of its own; answers one line for the user. */
  edit(): string;
}

export interface TerminalOptions {
  ascii: boolean;
  colour: boolean;
  /** The terminal's font has Braille patterns, which the time line's dots are. */
  dots: boolean;
  refreshMs: number;
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

/** Shows the content until it asks to close; the promise ends then. */
export function show(content: Content, options: TerminalOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    new Terminal(content, options, resolve, reject).begin();
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
  #suspended = false; // by Ctrl-Z
  #over = false;
  #canvas = new Canvas(0, 0); // what is shown
  #line: Line | null = null; // the time line over it, where one is
  #timer: NodeJS.Timeout | undefined;
  #interval: number;
  #refreshed = -Infinity;
  #forUserMs = 0; // CPU time that keys, mouse and resizing cost

  constructor(
    readonly content: Content,
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
      this.#redraw();
    });
  };

  // ---- what is shown ----

  get #size(): Size {
    return { width: this.#screen.width as number, height: this.#screen.height as number };
  }

  #render(): void {
    this.#canvas = this.content.draw(this.#size, this.#glyphs);
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
  #redraw(): void {
    this.#screen.realloc();
    this.#render();
  }

  /** Refreshes when it is time to, and looks often for the program's end. */
  #tick(): void {
    const now = performance.now();
    if (!this.#suspended && (now - this.#refreshed >= this.#interval || this.content.urgent)) {
      try {
        if (this.content.refresh()) this.#render();
      } catch (error) {
        this.content.say((error as Error).message);
        this.#render();
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
    this.#carryOut(this.content.key(full, char, this.#size));
  }

  #onMouse(event: MouseEvent): void {
    this.content.mouse(event, this.#size);
    this.#render();
  }

  #carryOut(request: Request | null): void {
    switch (request) {
      case 'close':
        this.#finish();
        return;
      case 'redraw':
        this.#redraw();
        return;
      case 'editor':
        this.#edit();
        return;
      case null:
        this.#render();
    }
  }

  #edit(): void {
    this.options.onTerminal?.(false);
    this.#screen.program.disableMouse();
    this.#screen.leave();
    this.content.say(this.content.edit());
    this.#screen.enter();
    this.#screen.program.enableMouse();
    this.options.onTerminal?.(true);
    this.#redraw();
  }
}
