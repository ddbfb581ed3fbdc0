/** An HTTP server on a loopback port or a Unix socket; maps requests to responses. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { lstatSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { isLoopback, type Address } from './address.js';
import { text, type Answer, type Answers } from './answers.js';

/** Creates the server, which does not listen yet. `unix`: it will listen on a Unix socket. */
export function serverOf(answers: Answers, unix: boolean): Server {
  return createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    const leaving = new AbortController();
    response.on('close', () => {
      leaving.abort();
    });
    answerOf(request, answers, unix, leaving.signal)
      .catch((error: unknown): Answer => text(500, error instanceof Error ? error.message : String(error)))
      .then(
        (answer) => {
          if (answer !== null) send(request, response, answer);
        },
        () => undefined,
      );
  });
}

/** Protects from DNS rebinding: a web page whose host name resolves to this machine sends its own name as Host. */
const isOurs = (host: string | undefined): boolean =>
  host !== undefined && isLoopback(host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'));

function answerOf(
  { headers, method, url = '/' }: IncomingMessage,
  answers: Answers,
  unix: boolean,
  gone: AbortSignal,
): Promise<Answer | null> {
  if (method !== 'GET' && method !== 'HEAD')
    return Promise.resolve({ ...text(405, 'only GET and HEAD'), headers: { Allow: 'GET, HEAD' } });
  if (!unix && !isOurs(headers.host)) return Promise.resolve(text(403, 'ask for localhost or 127.0.0.1'));
  return URL.canParse(url, 'http://localhost')
    ? answers.to(new URL(url, 'http://localhost'), gone)
    : Promise.resolve(text(400, 'that is no path'));
}

function send({ method }: IncomingMessage, response: ServerResponse, { status, type, body, headers }: Answer): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close', // so that an idle connection does not delay the end
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  response.end(method === 'HEAD' ? undefined : body);
}

/** Whether a process listens on the socket. */
const isAlive = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });

/** Removes a socket that a killed server has left behind. */
async function removeLeft(path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true && !(await isAlive(path))) unlinkSync(path);
}

/** Starts to listen and returns the actual address. Rejects with the system's error. */
export async function listen(server: Server, address: Address): Promise<Address> {
  if ('path' in address) await removeLeft(address.path);
  const before = 'path' in address ? process.umask(0o177) : null; // only this user may connect to the socket
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(address, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } finally {
    if (before !== null) process.umask(before);
  }
  if ('path' in address) {
    return address;
  }
  return { host: address.host, port: (server.address() as AddressInfo).port };
}
