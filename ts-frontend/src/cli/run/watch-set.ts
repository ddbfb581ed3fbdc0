/** quartz top SET: shows a map of all ranks, or the screen of one rank. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Arguments } from '../command.js';
import { Failure } from '../failure.js';
import { display } from '../terminal.js';
import { guardTerminal } from './terminal-guard.js';
import { watch } from './watch.js';
import { item } from '../../model/index.js';
import { isProfileError } from '../../reader/profile.js';
import { heatRows } from '../../sets/heat.js';
import { limitsOf } from '../../sets/limits/load.js';
import { jobSentences } from '../../sets/limits/sentences.js';
import { loadSet } from '../../sets/load.js';
import type { SetHead } from '../../sets/set-file.js';
import { rankOf, type LoadedSet } from '../../sets/views.js';
import { RankScreen } from '../../../../tui/src/ranks/screen.js';
import { show } from '../../../../tui/src/terminal.js';

/** The profile of a rank: at its path when the set was made, else in the set's directory, else in the current one. */
function profileOf(folder: string, { head }: LoadedSet, file: string): string | undefined {
  const places = [...head.folders, dirname(resolve(folder)), '.'];
  return places.map((place) => join(place, file)).find((path) => existsSync(path));
}

/** Shows the set until the user quits. If the profile of a rank is missing or unreadable, the map says so. */
export async function watchSet(args: Arguments, folder: string, head: SetHead, refreshMs: number): Promise<void> {
  let set: LoadedSet;
  try {
    set = await loadSet(folder, head, 'page');
  } catch (error) {
    throw new Failure(`${folder} is damaged: ${(error as Error).message}`, 'merge the profiles again');
  }
  const limits = await limitsOf(folder, set);
  const [first] = limits.findings;
  const limit = first === undefined ? null : jobSentences(limits, first, { ascii: display(args).ascii }).text;
  const map = new RankScreen({ set, rows: await heatRows(folder, set), limit });
  for (;;) {
    await show(map, {
      ...display(args),
      dots: false,
      refreshMs,
      onQuit: () => undefined,
      onTerminal: await guardTerminal(),
    });
    if (map.opened === null) return;
    const rank = item(set.ranks, map.opened);
    const file = profileOf(folder, set, rank.file);
    if (file === undefined) {
      map.say(`${rank.file}, the profile of rank ${rankOf(rank)}, is not where it was, beside the set, or here`);
      continue;
    }
    try {
      await watch(args, () => file, null, refreshMs, false);
    } catch (error) {
      if (!isProfileError(error)) throw error;
      map.say(`${file}: ${error.why}`);
    }
  }
}
