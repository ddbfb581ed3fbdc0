/** Shows sets of profiles: what limits the job of each, and the first rows of views. */
import { readdirSync, statSync } from 'node:fs';
import type { RenderOptions, SetView } from '../../render/format/options.js';
import { limitsOf } from '../../sets/limits/load.js';
import { headText, limitsJson, limitsText } from '../../sets/limits/report.js';
import { loadSet } from '../../sets/load.js';
import { readHead, setExtension, type SetHead } from '../../sets/set-file.js';
import { viewText } from '../../sets/view-text.js';
import { setView, type LoadedSet } from '../../sets/views.js';
import type { Arguments } from '../command.js';
import { exitCodes, Failure, usage } from '../failure.js';
import { display } from '../terminal.js';
import { version } from '../version.js';
import { print } from './output.js';

export interface Chosen {
  folder: string;
  head: SetHead;
}

export function newestSet(): string {
  const found = readdirSync('.')
    .filter((name) => name.endsWith(setExtension))
    .map((name) => ({ name, time: statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.time - a.time);
  if (found[0]) return found[0].name;
  throw new Failure(`there is no *${setExtension} in this directory`, 'name one, or make one with: quartz merge DIR');
}

export function chosen(folder: string): Chosen {
  const head = readHead(folder);
  if (typeof head === 'string') throw new Failure(`${folder} ${head}`, 'name what quartz merge made');
  return { folder, head };
}

export async function load({ folder, head }: Chosen, what: Parameters<typeof loadSet>[2]): Promise<LoadedSet> {
  try {
    return await loadSet(folder, head, what);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(`${folder} is damaged: ${why}`, 'merge the profiles again');
  }
}

/** Views of what ranks waited for each other at the times of their messages. */
export const viewsOfWaits: ReadonlySet<SetView> = new Set(['late', 'job-path']);

/** The times of messages are in the profiles alone, so that merging sets cannot relate ranks of different ones. */
export function noteParts(sets: readonly Chosen[]): void {
  for (const { folder, head } of sets)
    if ((head.parts ?? 1) > 1)
      process.stderr.write(
        `quartz: ${folder} was merged from sets: waits between ranks of different ones are not known to the views ` +
          'late and job-path; to see them, merge the profiles\n',
      );
}

/** What limits the job most; where no rank waits for another, that, and what limits it then. */
export async function firstLimits(set: Chosen, options: RenderOptions): Promise<string> {
  const limits = await limitsOf(set.folder, await load(set, 'limits'));
  return limitsText(limits, options, limits.findings[0]?.kind === 'balanced' ? 2 : 1);
}

/** Rows of each view. */
const rowsOfViews = 5;
const overview = [
  ['mpi', 'Calls that wait for other ranks: where, how long, and who waits least there (mpi)'],
  ['late', 'Which rank came late, and how long others waited for it (late)'],
  ['imbalance', 'What some ranks have more of than others (imbalance)'],
  ['outliers', 'Ranks that are far from the others (outliers)'],
] as const;

export async function showSets(args: Arguments, sets: readonly Chosen[]): Promise<number> {
  const loaded = [];
  for (const set of sets) loaded.push({ folder: set.folder, set: await load(set, 'page') });
  if (args.has('json')) {
    const [only] = loaded;
    if (only === undefined || loaded.length > 1)
      throw usage('--json needs one set, or a view', 'name one set, or add --view imbalance');
    await print(limitsJson(only.set, await limitsOf(only.folder, only.set), version()));
    return exitCodes.ok;
  }
  noteParts(sets);
  const options = display(args);
  const parts: string[] = [];
  for (const { folder, set } of loaded)
    parts.push(`${headText(set, options)}\n`, limitsText(await limitsOf(folder, set), options));
  const short = { ...options, top: args.number('top') ?? rowsOfViews };
  const all = loaded.map(({ set }) => set);
  for (const [view, title] of overview)
    parts.push(
      `${title}\n\n${viewText(
        setView(view, all, () => 1),
        short,
      )}`,
    );
  await print(parts.join('\n'));
  return exitCodes.ok;
}
