/** quartz merge: makes one set of many profiles. */
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Arguments, Command } from '../cli/command.js';
import { exitCodes, Failure, usage } from '../cli/failure.js';
import { print } from '../cli/show/output.js';
import { version } from '../cli/version.js';
import type { MemberProfile } from '../model/index.js';
import { systemReason } from '../reader/system-error.js';
import type { FindingRow, Source } from '../sets/merge.js';
import { isSetName, readHead, setExtension, type LeftOut, type SetHead } from '../sets/set-file.js';

const extension = '.quartz'; // the extension of profiles
const byNumber = new Intl.Collator('en', { numeric: true });

/**
 * The profiles and sets that the words name. A directory stands for all profiles in it or, if it contains none, for all
 * sets.
 */
function filesOf(words: readonly string[]): string[] {
  const files = words.flatMap((word) => {
    const status = statSync(word, { throwIfNoEntry: false });
    if (!status) throw new Failure(`${word} does not exist`, 'name profiles, sets, or a directory of them');
    if (!status.isDirectory() || isSetName(word)) return [word];
    const all = readdirSync(word).sort(byNumber.compare);
    const profiles = all.filter((name) => name.endsWith(extension));
    const names = profiles.length > 0 ? profiles : all.filter(isSetName);
    if (names.length === 0)
      throw new Failure(`there is no *${extension} file in ${word}, and no *${setExtension}`, 'record some there');
    return names.map((name) => join(word, name));
  });
  return [...new Map(files.map((file) => [resolve(file), file])).values()];
}

function parametersOf(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (name === undefined || value === undefined)
        throw usage(`--parameter needs NAME=VALUE, not ${text}`, 'for example: --parameter size=4096');
      return [name, value];
    }),
  );
}

/** The maximum number of unusable files that are named. */
const mostNamed = 10;

function say(lines: readonly string[], more: string): void {
  for (const line of lines.slice(0, mostNamed)) process.stderr.write(`quartz: ${line}\n`);
  if (lines.length > mostNamed) process.stderr.write(`quartz: ${lines.length - mostNamed} more ${more}\n`);
}

/** What limits the job most, where there is more than one rank. */
async function limitsAfter(args: Arguments, folder: string, head: SetHead): Promise<string> {
  if (head.members < 2) return '';
  const { firstLimits } = await import('../cli/show/show-set.js');
  const { display } = await import('../cli/terminal.js');
  return `\n${await firstLimits({ folder, head }, display(args))}\nquartz report ${folder} says more\n`;
}

export const command: Command = {
  name: 'merge',
  usage: 'DIR|FILE|SET... [-o SET]',
  about:
    'Merges profiles, such as those of all ranks of an MPI program, into one set: Parquet tables, which quartz ' +
    'query and other engines read. A directory stands for all *.quartz in it; if it contains none, for all sets ' +
    'in it, so that each node can merge its own ranks first. Unreadable files are named and left out. ' +
    'docs/reference/sets.md describes the contents.',
  examples: [
    ['quartz merge profiles/ -o run.quartzset', 'all profiles of a directory'],
    ['quartz merge node*.quartzset -o run.quartzset', 'the sets of all nodes'],
    ['quartz merge solver.*.quartz --parameter size=4096', 'into solver.quartzset'],
  ],
  options: ['set-output', 'parameter', 'merge-quiet'],
  most: Infinity,
  run: async (args) => {
    if (args.words.length === 0) throw usage('there is nothing to merge', 'write: quartz merge DIR, or FILE...');
    const parameters = parametersOf(args.texts('parameter'));
    const files = filesOf(args.words);
    const { faultOf, isProfileError, openProfile } = await import('../reader/profile.js');
    const { openOutline } = await import('../reader/outline.js');
    const { faultRemedies } = await import('../cli/profile.js');
    const remedyOf = ({ fault = 'damaged' }: LeftOut): string =>
      fault === 'set' ? 'merge its profiles again' : faultRemedies[fault];
    const { DamagedSet, DifferentRuns, EmptySet, merge } = await import('../sets/merge.js');
    const open = (file: string) => (): MemberProfile | Omit<LeftOut, 'file'> => {
      try {
        return openOutline(file);
      } catch (error) {
        if (isProfileError(error)) return { why: error.why, fault: faultOf(error) };
        throw error;
      }
    };
    const { buildModel } = await import('../model/index.js');
    const { findingSentences } = await import('../render/findings/index.js');
    const findings = (file: string) => (): FindingRow[] => {
      const model = buildModel(openProfile(file, { byStack: true }));
      return model.findings.map((finding) => ({
        kind: finding.kind,
        cost_ns: finding.costNs,
        saving_ns: finding.savingNs,
        ...findingSentences(model, finding, { ascii: false }),
      }));
    };
    const sources = files.map((file) =>
      isSetName(file) ? { folder: file } : { file, open: open(file), findings: findings(file) },
    );
    const named = args.text('set-output') ?? (await defaultName(sources));
    const folder = named.replace(/\/+$/, '');
    if (statSync(folder, { throwIfNoEntry: false }))
      throw new Failure(`${folder} exists already`, 'name another set with -o, or remove that one');
    let merged;
    try {
      merged = await merge(sources, folder, { quartz: version(), parameters });
    } catch (error) {
      if (error instanceof EmptySet) {
        const [first = { file: folder, why: 'no profile', fault: 'foreign' as const }] = error.leftOut;
        const others = error.leftOut.length > 1 ? `, and no other of ${error.leftOut.length} files either` : '';
        throw new Failure(`no profile can be merged: ${first.file}: ${first.why}${others}`, remedyOf(first));
      }
      if (error instanceof DamagedSet)
        throw new Failure(`${error.folder} is damaged: a table of it cannot be read`, 'merge its profiles again');
      if (error instanceof DifferentRuns)
        throw new Failure(
          `sets of different runs: ${error.parameter} is ${error.values.join(' and ')}, the latter in ${error.folder}`,
          `merge those of one run, or give --parameter ${error.parameter}=VALUE`,
        );
      const { code, syscall } = error as NodeJS.ErrnoException;
      if (code === undefined || syscall === undefined) throw error; // not an error of an operation on a file
      throw new Failure(`${folder} cannot be written: ${systemReason(error)}`, 'name another set with -o');
    }
    const { head, contexts, facts } = merged;
    const leftOut = head.leftOut.map((one) => `left out: ${one.file}: ${one.why}; ${remedyOf(one)}`);
    say(leftOut, `files are left out (set.json of ${folder} names them)`);
    say(
      head.unfinished.map((file) => `${file} was not finished: it is in the set as far as it was recorded`),
      `profiles were not finished (set.json of ${folder} names them)`,
    );
    if (!args.has('merge-quiet'))
      await print(
        `${folder}: ${head.members} ${head.members === 1 ? 'profile' : 'profiles'} of ${head.programs.join(', ')}; ` +
          `${facts} facts at ${contexts} call paths\n${await limitsAfter(args, folder, head)}`,
      );
    return exitCodes.ok;
  },
};

/** The set is named after the program of the first readable profile. */
async function defaultName(sources: readonly Source[]): Promise<string> {
  const { baseName } = await import('../model/index.js');
  for (const source of sources) {
    if ('folder' in source) {
      const head = readHead(source.folder);
      if (typeof head !== 'string' && head.programs[0] !== undefined) return `${head.programs[0]}${setExtension}`;
      continue;
    }
    const raw = source.open();
    if (!('why' in raw)) return `${baseName(raw.head.program)}${setExtension}`;
  }
  throw new Failure('none of these files is a readable profile', 'name profiles that quartz record has written');
}
