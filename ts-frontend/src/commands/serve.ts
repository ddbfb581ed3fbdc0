/** quartz serve: records a program and serves its profile over HTTP, to Prometheus, pprof and other tools. */
import type { Command } from '../cli/command.js';
import { usage } from '../cli/failure.js';
import { keepServing } from '../cli/run/serving.js';
import { continuousOptions } from '../cli/options.js';
import { addressOf, type Address } from '../serve/address.js';

function listenAt(text: string | undefined): Address {
  const remedy = 'write: --listen PORT, --listen HOST:PORT or --listen unix:PATH';
  if (text === undefined) throw usage('no address is given', remedy);
  try {
    const address = addressOf(text);
    if (address !== null) return address;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw usage(
      `--listen takes only the loopback interface (127.0.0.1, ::1, localhost), not ${error.message}`,
      'use a proxy with access control for other interfaces',
    );
  }
  throw usage(`--listen needs a port, an address with a port, or a socket's path, not ${text}`, remedy);
}

export const command: Command = {
  name: 'serve',
  usage: '--listen ADDRESS [options] -- PROGRAM ARGUMENTS | -p PID',
  about:
    'Records a program, and serves its profile over HTTP while it runs: /debug/pprof/npt?seconds=N (go tool ' +
    'pprof, Pyroscope, Parca), /metrics (Prometheus), /health. It listens on the loopback interface or on a Unix ' +
    'socket only. It ends with the program, with its exit status. docs/reference/serve.md describes the contents ' +
    'and the cost.',
  examples: [
    ['quartz serve --listen 9464 -- ./server', 'start a program, and listen on port 9464 of 127.0.0.1'],
    ['quartz serve --listen unix:/run/user/1000/q.sock -p 4711', 'observe a running program; listen on a Unix socket'],
    ['go tool pprof http://127.0.0.1:9464/debug/pprof/npt?seconds=10', 'then: profile the next 10 seconds'],
  ],
  options: ['listen', 'pid', ...continuousOptions],
  program: true,
  run: (args) => {
    const address = listenAt(args.text('listen'));
    const pid = args.text('pid');
    if (pid === undefined && args.words.length === 0)
      throw usage('no program is given', 'write: quartz serve --listen PORT -- PROGRAM, or -p PID');
    if (pid !== undefined && args.words.length > 0)
      throw usage('both a process and a program are given', 'give only one');
    return keepServing(args, address);
  },
};
