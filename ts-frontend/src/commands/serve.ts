/** quartz serve: a recording that goes on, to be asked over HTTP by Prometheus, pprof and the like. */
import type { Command } from '../cli/command.js';
import { usage } from '../cli/failure.js';
import { keepServing } from '../cli/run/serving.js';
import { continuousOptions } from '../cli/options.js';
import { addressOf, type Address } from '../serve/address.js';

function listenAt(text: string | undefined): Address {
  const remedy = 'write: --listen PORT, --listen HOST:PORT or --listen unix:PATH';
  if (text === undefined) throw usage('there is nowhere to listen', remedy);
  try {
    const address = addressOf(text);
    if (address !== null) return address;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw usage(
      `--listen takes only the loopback interface (127.0.0.1, ::1, localhost), not ${error.message}`,
      'put a proxy that knows who may ask before it',
    );
  }
  throw usage(`--listen wants a port, an address with a port, or a socket's path, not ${text}`, remedy);
}

export const command: Command = {
  name: 'serve',
  usage: '--listen ADDRESS [options] -- PROGRAM ARGUMENTS | -p PID',
  about:
    'Records a program, and answers over HTTP while it runs: /debug/pprof/npt?seconds=N (go tool pprof, Pyroscope,\n' +
    'Parca), /metrics (Prometheus), /health. It listens on the loopback interface or a Unix socket alone, and ends\n' +
    'with the program, whose status is its own. docs/reference/serve.md says what is in them and what it costs.',
  examples: [
    ['quartz serve --listen 9464 -- ./server', 'start a program, and listen on port 9464 of 127.0.0.1'],
    ['quartz serve --listen unix:/run/user/1000/q.sock -p 4711', 'of a program that runs; on a socket of your own'],
    ['go tool pprof http://127.0.0.1:9464/debug/pprof/npt?seconds=10', 'then: what limits it in the next 10 seconds'],
  ],
  options: ['listen', 'pid', ...continuousOptions],
  program: true,
  run: (args) => {
    const address = listenAt(args.text('listen'));
    const pid = args.text('pid');
    if (pid === undefined && args.words.length === 0)
      throw usage('there is nothing to record', 'write: quartz serve --listen PORT -- PROGRAM, or -p PID');
    if (pid !== undefined && args.words.length > 0) throw usage('both a process and a program are named', 'name one');
    return keepServing(args, address);
  },
};
