/** A terminal in memory: a real emulator draws what the screen sends, and it is read back cell by cell. */
import { PassThrough, Writable } from 'node:stream';
import xterm from '@xterm/headless';
import { buildModel, difference, type CodePiece, type RawProfile } from '../../../ts-frontend/src/model/index.js';
import { Watch, type Host } from '../../../tui/src/session.js';
import { LiveScreen } from '../../../tui/src/live.js';
import { show, type Content } from '../../../tui/src/terminal.js';

export interface Cell {
  text: string;
  fg: number;
  bold: boolean;
  inverse: boolean;
  underline: boolean;
}

class Keyboard extends PassThrough {
  isTTY = true;
  isRaw = false;
  setRawMode(on: boolean): this {
    this.isRaw = on;
    return this;
  }
}
class Output extends Writable {
  isTTY = true;
  constructor(
    readonly emulator: InstanceType<typeof xterm.Terminal>,
    public columns: number,
    public rows: number,
  ) {
    super();
  }
  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    this.emulator.write(chunk, done);
  }
}

/** A host over profiles in memory. */
export class Memory implements Host {
  finished = false;
  why: string | null = null;
  written = 0;
  sourceText: string[] = ['int main(void)', '{', '  return 0;', '}'];
  constructor(public raw: RawProfile) {}
  read(): RawProfile {
    return this.raw;
  }
  build(raw: RawProfile): ReturnType<typeof buildModel> {
    return buildModel(raw);
  }
  difference = difference;
  source(file: string): { file: string; lines: string[] } {
    return { file, lines: this.sourceText };
  }
  pieces: CodePiece[] = [];
  code(): CodePiece[] {
    return this.pieces;
  }
  write(): string {
    return `snapshot-${++this.written}.quartz`;
  }
  ended(): string | null {
    return this.why;
  }
}

export interface Options {
  width?: number;
  height?: number;
  ascii?: boolean;
  colour?: boolean;
  dots?: boolean;
  owned?: boolean;
  nextMs?: number; // time between refreshes
}

const contentOf = (host: Memory | Content, owned: boolean): Content =>
  host instanceof Memory ? new LiveScreen(new Watch(host), owned) : host;

export class Session {
  readonly emulator: InstanceType<typeof xterm.Terminal>;
  readonly keyboard = new Keyboard();
  readonly output: Output;
  readonly done: Promise<void>;
  over = false;

  constructor(
    readonly host: Memory | Content,
    options: Options = {},
  ) {
    const { width = 80, height = 24 } = options;
    this.emulator = new xterm.Terminal({ cols: width, rows: height, allowProposedApi: true, scrollback: 0 });
    this.output = new Output(this.emulator, width, height);
    this.done = show(contentOf(host, options.owned ?? false), {
      ascii: options.ascii ?? false,
      colour: options.colour ?? true,
      dots: options.dots ?? true,
      refreshMs: 100,
      pace: { next: () => options.nextMs ?? 100 },
      onQuit: () => {
        this.over = true;
      },
      input: this.keyboard,
      output: this.output,
      term: 'xterm-256color',
    });
  }
  /** Types keys, then waits until the screen does not change any more. */
  async type(...keys: string[]): Promise<string[]> {
    for (const key of keys) {
      this.keyboard.write(key);
      await this.settle();
    }
    return this.lines();
  }
  /** Clicks with the left button; columns and lines count from 0. */
  click(x: number, y: number): Promise<string[]> {
    return this.type(`\x1b[<0;${x + 1};${y + 1}M`);
  }
  /** Waits until nothing has changed for a while, or until `wanted` is shown. */
  async settle(wanted?: (lines: string[]) => boolean): Promise<string[]> {
    let before = '';
    let same = 0;
    for (let waited = 0; waited < 20_000; waited += 20) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      const now = this.lines().join('\n');
      same = now === before ? same + 1 : 0;
      before = now;
      if (wanted ? wanted(this.lines()) : same >= 4 && now.trim() !== '') return this.lines();
    }
    if (wanted) throw new Error(`never seen; the screen shows:\n${before}`);
    return this.lines();
  }
  resize(width: number, height: number): Promise<string[]> {
    this.emulator.resize(width, height);
    this.output.columns = width;
    this.output.rows = height;
    this.output.emit('resize');
    return this.settle();
  }
  lines(): string[] {
    const { active } = this.emulator.buffer;
    return Array.from(
      { length: this.emulator.rows },
      (_, y) => active.getLine(y)?.translateToString(true).trimEnd() ?? '',
    );
  }
  cell(x: number, y: number): Cell {
    const cell = this.emulator.buffer.active.getLine(y)!.getCell(x)!;
    return {
      text: cell.getChars(),
      fg: cell.isFgDefault() ? -1 : cell.getFgColor(),
      bold: cell.isBold() !== 0,
      inverse: cell.isInverse() !== 0,
      underline: cell.isUnderline() !== 0,
    };
  }
  /** Runs of cells of the same style in a line: "text" with its colour. */
  runs(y: number): (Cell & { x: number })[] {
    const runs: (Cell & { x: number })[] = [];
    for (let x = 0; x < this.emulator.cols; x++) {
      const cell = this.cell(x, y);
      const last = runs.at(-1);
      if (
        last?.fg === cell.fg &&
        last.bold === cell.bold &&
        last.inverse === cell.inverse &&
        last.underline === cell.underline
      )
        last.text += cell.text || ' ';
      else runs.push({ ...cell, text: cell.text || ' ', x });
    }
    return runs;
  }
  async quit(): Promise<void> {
    this.keyboard.write('q');
    await this.done;
  }
}
