/**
 * The terminal side: blessed's screen, keys, mouse, resizing, and restoring the terminal in all cases. It copies the
 * cells that a content draws into the screen's cells; blessed sends only those that changed.
 */
import { defined } from '../../ts-frontend/src/model/index.js';
import blessed from 'blessed';
// only this widget is imported, because the package's index loads all of them
import lineChart from 'blessed-contrib/lib/widget/charts/line.js';
import { copyCells, type ScreenLine } from './cells.js';
import { Canvas, type Plot } from './draw/canvas.js';
import { ascii, unicode, type Glyphs } from './draw/glyphs.js';
import type { MouseEvent } from './mouse.js';
import { Pace } from './pace.js';
import type { Size } from './state/types.js';

/** A content's request to the terminal: to close, to redraw everything, or to give the terminal to an editor. */
export type Request = 'close' | 'redraw' | 'editor';

/** A content fills the screen and handles its keys. It does not depend on the terminal. */
export interface Content {
  /**
   * Looks for new data to show; returns whether there is any. The message of a thrown Error is one line for the user.
   */
  refresh(): boolean;
  /** Says how long it is until the next refresh, in ms; returns whether that changes what is shown. */
  paced(ms: number): boolean;
  /** Whether something has happened that should be shown before the next refresh is due. */
  readonly urgent: boolean;
  draw(size: Size, glyphs: Glyphs): Canvas;
  /** `full`: blessed's name of the key; `char`: the character that it types, if any. */
  key(full: string, char: string | undefined, size: Size): Request | null;
  mouse(event: MouseEvent, size: Size): void;
  /** Shows one line to the user. */
  say(text: string): void;
  /** Runs the requested editor on the terminal; returns one line for the user. */
  edit(): string;
}

interface TerminalOptions {
  ascii: boolean;
  colour: boolean;
  /** Whether the terminal's font has Braille patterns, which the dots of the time line consist of. */
  dots: boolean;
  refreshMs: number;
  /** When to refresh next; for tests, which must not depend on what they cost. */
  pace?: Pick<Pace, 'next'>;
  onQuit: () => void;
  /** Called when the screen has taken over the terminal, and when it has given it back. */
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
/** Interval in ms at which the end of the program is checked for. */
const endCheckMs = 250;
/** CPU time of this process since its start, in ms. */
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

/** Shows the content; the promise is resolved when the content asks to close. */
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
  // Unicode characters are sent unchanged, because many terminals show the line-drawing character set wrongly, or not
  // at all, in UTF-8.
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
 * A chart as large as the plot. It also uses the space that the widget would leave empty for a border and for a line
 * below the axis.
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
    wrap: false, // else a line in the last column, where the dots' colour ends, would be moved to a row of its own
    style: { text: 'normal', baseline: 'normal', line: 'normal' },
  }) as Line;
  (line as unknown as { calcSize: () => void }).calcSize = () => {
    line.canvasSize = { width: width * 2, height: (height + 1) * 4 };
  };
  screen.append(line); // creates the widget's canvas
  return line;
}

function plotOn(line: Line, { axis, top, step, labels, every, series }: Plot): void {
  const rows = line.canvasSize.height;
  Object.assign(line.options, {
    // The widget's axis is 11 dots above the bottom and its zero 2 dots above the axis; the maximum is chosen so that
    // `top` is the uppermost dot.
    maxY: ((top * (rows - 11)) / (rows - 13)) * (1 + 1e-9),
    xPadding: axis * 2,
    xLabelPadding: axis * 2,
    showNthLabel: every,
  });
  line.options['numYLabels'] = (line.options['maxY'] as number) / (step + 1e-6);
  // The first point is 2 dots to the right of the axis; 2 more points make our last one the rightmost dot.
  const beyond = <T>(values: T[]): T[] => [...values, ...Array<T>(2).fill(defined(values.at(-1)))];
  line.setData(
    series.map(({ colour, values }) => ({ x: beyond(labels), y: beyond(values), style: { line: colours[colour] } })),
  );
}

class Terminal {
  readonly #glyphs: Glyphs;
  readonly #screen: RawScreen;
  readonly #pace: Pick<Pace, 'next'>;
  #suspended = false; // by Ctrl-Z
  #over = false;
  #canvas = new Canvas(0, 0); // what is currently shown
  #line: Line | null = null; // the time line over it, if there is one
  #timer: NodeJS.Timeout | undefined;
  #interval: number;
  #refreshed = -Infinity;
  #forUserMs = 0; // CPU time for keys, mouse and resizing, in ms

  constructor(
    readonly content: Content,
    readonly options: TerminalOptions,
    readonly resolve: () => void,
    readonly reject: (error: Error) => void,
  ) {
    this.#glyphs = options.ascii ? ascii : { ...unicode, dots: options.dots && options.colour };
    this.#pace = options.pace ?? new Pace(options.refreshMs);
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
    this.#screen.program.disableMouse(); // blessed disables only what its own elements have enabled
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
   * After Ctrl-Z and fg, the shell has written over the screen. Redraws it when blessed, which handles the same signal,
   * has its output again; anything drawn earlier would go to the shell's screen.
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
    this.#plot(this.#canvas.plot); // must be set before the screen processes its elements
    this.#screen.render();
  }
  /** Shows lines over the cells, or removes them. */
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

  /** Refreshes when a refresh is due, and checks more often for the program's end. */
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
      if (this.content.paced(this.#interval)) this.#render();
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
    if (full === 'return' || full === 'linefeed') return; // blessed also reports `enter` for this key
    if (full === 'C-z') {
      this.#suspended = true;
      this.options.onTerminal?.(false);
      this.#screen.program.sigtstp?.();
      setTimeout(() => {
        process.emit('SIGCONT');
      }, 100); // without job control, the process is not stopped, and nothing would continue it
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
