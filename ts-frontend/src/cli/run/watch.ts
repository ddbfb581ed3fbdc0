/**
 * Shows a profile, which may be growing, on the live screen. Separate from live.ts, which starts the program without
 * waiting until model and screen are loaded.
 */
import { constants } from 'node:os';
import { basename } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Arguments } from '../command.js';
import { guardTerminal } from './terminal-guard.js';
import { sourceText } from '../show/source-text.js';
import { display, hasBraille } from '../terminal.js';
import { buildModel, difference, type RawProfile } from '../../model/index.js';
import { codeOf } from '../../reader/disassembly.js';
import { isPassing, isProfileError, openProfile, saveProfile } from '../../reader/profile.js';
import { LiveScreen } from '../../../../tui/src/live.js';
import { show } from '../../../../tui/src/terminal.js';
import { Watch, type Host } from '../../../../tui/src/session.js';

/**
 * State of a recording that runs beside the screen: the sampler's exit status, which is the program's; null while it
 * runs.
 */
interface Sampling {
  status: number | null;
}

function hasSnapshots(file: string): boolean {
  try {
    return openProfile(file, { symbolize: false }).head.snapshots > 0;
  } catch (error) {
    if (isPassing(error)) return false;
    throw error;
  }
}

function hostOf(called: () => string, recording: Sampling | null, raw: boolean): Host {
  let file = called();
  let ended: string | null = null;
  let last: RawProfile | null = null;
  let first = recording === null ? openProfile(file) : null; // loaded when the screen first asks for it
  return {
    finished: first !== null && first.head.status !== 'recording',
    read: () => {
      const name = called();
      if (name !== file && hasSnapshots(name)) {
        file = name;
        last = ended = null;
      }
      try {
        const profile = first ?? openProfile(file, { after: last });
        first = null;
        last = profile;
        if (profile.head.status !== 'recording')
          ended = endOf(profile.head.endReason, profile.head.exitStatus, profile.head.status);
        return profile;
      } catch (error) {
        if (isProfileError(error)) throw new Error(`${file}: ${error.why}`);
        throw error;
      }
    },
    build: (profile) => buildModel(profile, { compensate: !raw }),
    difference,
    source: (path) => {
      return { file: path, ...sourceText(path) };
    },
    code: codeOf,
    write: () => {
      const now = new Date().toISOString().replace(/[-:]/g, '').slice(0, 15);
      const target = `${basename(file).replace(/\.quartz$/, '')}-${now}.quartz`;
      saveProfile(file, target);
      return target;
    },
    ended: () => {
      if (ended === null && recording !== null && recording.status !== null)
        ended = recording.status === 0 ? 'the program has ended' : `ended with status ${recording.status}`;
      return ended;
    },
  };
}

function endOf(reason: string, status: number, profile: string): string {
  if (profile === 'abandoned') return 'the sampler was killed';
  switch (reason) {
    case 'exit':
      return `exited with status ${status}`;
    case 'signal':
      const name = Object.entries(constants.signals).find(([, number]) => number === status)?.[0];
      return `killed by ${name ?? `signal ${status}`}`;
    case 'disk-full':
      return 'recording ended: the disk is full';
    case 'exec':
      return 'replaced by another program (exec)';
    case 'time':
      return 'the time is over';
    default:
      return 'recording ended';
  }
}

/**
 * Shows a profile until the user quits. `called` returns the profile's name, which changes when the program executes
 * another one. `owned`: the program was started for the screen and ends with it.
 */
export async function watch(
  args: Arguments,
  called: () => string,
  recording: Sampling | null,
  refreshMs: number,
  owned: boolean,
): Promise<void> {
  const { ascii, colour } = display(args);
  // V8 drops the byte code of functions that no garbage collection has seen running, which between refreshes is all of
  // it, and would compile it again at each refresh.
  setFlagsFromString('--no-flush-bytecode');
  await show(new LiveScreen(new Watch(hostOf(called, recording, args.has('raw'))), owned), {
    ascii,
    colour,
    dots: hasBraille(),
    refreshMs,
    onQuit: () => undefined,
    onTerminal: await guardTerminal(),
  });
}
