/** The server beside a recording: both begin and end together. */
import { statSync } from 'node:fs';
import { openProfile } from '../reader/profile.js';
import type { RawProfile } from '../model/index.js';
import type { Address } from './address.js';
import { Answers } from './answers.js';
import { listen, serverOf } from './http.js';
import { Source } from './source.js';

/** How long requests that wait for a profile may take to get it when the recording has ended. */
const lastMs = 2000;

export interface Serving {
  at: Address; // where it listens
  /** The sampler writes that file from now on. */
  recorded: (file: string) => void;
  /** The recording has ended: answers what was asked, then ends. */
  end: () => Promise<void>;
}

function read(file: string, after: RawProfile | null): RawProfile | null {
  try {
    return openProfile(file, { after });
  } catch {
    return null; // another one is being made in its place
  }
}

const bytesOf = (file: string | null): number =>
  file === null ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);

/** Begins to listen. Fails with the error of the kernel. */
export async function serve(address: Address, version: string): Promise<Serving> {
  const source = new Source(read);
  const ending = new AbortController();
  let profiles = 0;
  const answers = new Answers(
    source,
    () => {
      const { user, system } = process.cpuUsage();
      return {
        version,
        up: source.file !== null && !ending.signal.aborted,
        cpuSeconds: (user + system) / 1e6,
        residentBytes: process.memoryUsage.rss(),
        profileBytes: bytesOf(source.file),
        profiles,
      };
    },
    ending.signal,
  );
  const server = serverOf(answers, 'path' in address);
  const at = await listen(server, address);
  return {
    at,
    recorded: (file) => {
      if (file === source.file) return;
      source.follow(file);
      profiles++;
    },
    end: async () => {
      ending.abort();
      const ended = new Promise((resolve) => {
        server.close(resolve);
      });
      server.closeIdleConnections();
      const timer = setTimeout(() => {
        server.closeAllConnections();
      }, lastMs);
      await ended;
      clearTimeout(timer);
    },
  };
}
