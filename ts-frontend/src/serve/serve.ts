/** The server that runs while a program is recorded; it begins and ends with the recording. */
import { statSync } from 'node:fs';
import { openProfile } from '../reader/profile.js';
import type { RawProfile } from '../model/index.js';
import type { Address } from './address.js';
import { Answers } from './answers.js';
import { listen, serverOf } from './http.js';
import { Source } from './source.js';

/** After the end of the recording, pending requests may take this long to be answered. */
const lastMs = 2000;

export interface Serving {
  at: Address; // the address that it listens on
  /** To be called when the sampler begins to write a (new) file. */
  recorded: (file: string) => void;
  /** To be called when the recording has ended: answers pending requests, then stops the server. */
  end: () => Promise<void>;
}

function read(file: string, after: RawProfile | null): RawProfile | null {
  try {
    return openProfile(file, { after });
  } catch {
    return null; // the file is being replaced
  }
}

const bytesOf = (file: string | null): number =>
  file === null ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);

/** Starts the server. Rejects with the system's error if it cannot listen. */
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
