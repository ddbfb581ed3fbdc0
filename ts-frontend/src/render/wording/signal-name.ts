/** Names of the signals that end programs: Linux has the same numbers on x86-64 and aarch64. */

const names: ReadonlyMap<number, string> = new Map([
  [1, 'SIGHUP'],
  [2, 'SIGINT'],
  [3, 'SIGQUIT'],
  [4, 'SIGILL'],
  [5, 'SIGTRAP'],
  [6, 'SIGABRT'],
  [7, 'SIGBUS'],
  [8, 'SIGFPE'],
  [9, 'SIGKILL'],
  [10, 'SIGUSR1'],
  [11, 'SIGSEGV'],
  [12, 'SIGUSR2'],
  [13, 'SIGPIPE'],
  [14, 'SIGALRM'],
  [15, 'SIGTERM'],
  [24, 'SIGXCPU'],
  [25, 'SIGXFSZ'],
  [31, 'SIGSYS'],
]);

/** By these, users and other programs end a program as planned. */
const requests = new Set([1, 2, 13, 15]);

export const isRequestToEnd = (signal: number): boolean => requests.has(signal);

export function signalName(signal: number): string {
  const name = names.get(signal);
  return name === undefined ? `signal ${signal}` : `signal ${signal} (${name})`;
}
