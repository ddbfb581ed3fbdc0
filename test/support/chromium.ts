/**
 * A page in headless Chromium, spoken to by the DevTools protocol over a pipe: null-terminated JSON on descriptors 3
 * and 4.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { temporaryDirectory } from './temporary.js';

interface Message {
  id?: number;
  method?: string;
  params?: { [key: string]: unknown };
  result?: { [key: string]: unknown };
  error?: { message: string };
}

export class Chromium {
  /** What the page wrote to the console, violations of its policy among it, and what its script threw. */
  readonly complaints: string[] = [];
  private readonly waiting = new Map<number, (message: Message) => void>();
  private next = 1;
  private session: string | undefined;
  private rest = '';

  private constructor(private readonly child: ChildProcess) {
    const pipe = child.stdio[4] as Readable;
    pipe.setEncoding('utf8');
    pipe.on('data', (text: string) => {
      const parts = (this.rest + text).split('\0');
      this.rest = parts.pop()!;
      for (const part of parts) this.take(JSON.parse(part) as Message);
    });
  }

  private take({ id, method, params, ...message }: Message): void {
    if (id !== undefined) {
      this.waiting.get(id)?.({ ...message });
      this.waiting.delete(id);
    } else if (
      method === 'Runtime.consoleAPICalled' ||
      method === 'Runtime.exceptionThrown' ||
      method === 'Log.entryAdded'
    )
      this.complaints.push(JSON.stringify(params));
  }

  private async call(method: string, params: object = {}): Promise<{ [key: string]: unknown }> {
    const id = this.next++;
    const answer = new Promise<Message>((resolve) => this.waiting.set(id, resolve));
    const { session: sessionId } = this;
    (this.child.stdio[3] as Writable).write(
      `${JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) })}\0`,
    );
    const { result, error } = await answer;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }

  /** Opens a file, or an address (file:, http:); `width` of the window in px. */
  static async open(file: string, width = 1240): Promise<Chromium> {
    // It leaves directories where temporary files go.
    const directory = temporaryDirectory();
    const child = spawn(
      'chromium',
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--no-first-run',
        `--user-data-dir=${directory}/user`,
        '--remote-debugging-pipe',
        'about:blank',
      ],
      {
        env: { ...process.env, TMPDIR: directory },
        stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
        timeout: 120_000,
      },
    );
    const page = new Chromium(child);
    const { targetInfos } = (await page.call('Target.getTargets')) as {
      targetInfos: { type: string; targetId: string }[];
    };
    const { targetId } = targetInfos.find(({ type }) => type === 'page')!;
    const { sessionId } = await page.call('Target.attachToTarget', { targetId, flatten: true });
    page.session = sessionId as string;
    for (const domain of ['Runtime', 'Log', 'Page']) await page.call(`${domain}.enable`);
    await page.call('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });
    const url = /^(file|http):/.test(file) ? file : pathToFileURL(file).href;
    await page.call('Page.navigate', { url });
    while ((await page.evaluate('document.readyState')) !== 'complete')
      await new Promise((done) => setTimeout(done, 50));
    return page;
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = (await this.call('Runtime.evaluate', { expression, returnByValue: true })) as {
      result: { value: unknown };
      exceptionDetails?: object;
    };
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  }

  /** As a user's key does. */
  async press(key: string): Promise<void> {
    for (const type of ['keyDown', 'keyUp'])
      await this.call('Input.dispatchKeyEvent', {
        type,
        key,
        ...(key.length === 1 && type === 'keyDown' ? { text: key } : {}),
      });
  }

  async prefer(scheme: 'light' | 'dark'): Promise<void> {
    await this.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  }

  /** As it is printed. */
  async print(): Promise<void> {
    await this.call('Emulation.setEmulatedMedia', { media: 'print' });
  }

  /** PNG of the whole page, or of a part of it from its left upper corner. */
  async screenshot(part?: { width: number; height: number }): Promise<Buffer> {
    const { data } = await this.call('Page.captureScreenshot', {
      captureBeyondViewport: true,
      ...(part === undefined ? {} : { clip: { x: 0, y: 0, scale: 1, ...part } }),
    });
    return Buffer.from(data as string, 'base64');
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
  }
}
