/** Where the programs with known answers lie, as sources and built. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readAnswers, type Answers } from './answers.js';

export const root = join(import.meta.dirname, '../../..');

export interface Program { name: string; source: string; binary: string; answers: Answers }

export const programs: readonly Program[] = readdirSync(join(root, 'test/programs'))
  .filter((file) => /\.(c|cc)$/.test(file))
  .sort()
  .map((file) => {
    const name = file.replace(/\.\w+$/, '');
    const source = join(root, 'test/programs', file);
    return { name, source, binary: join(root, 'build/test/programs', name), answers: readAnswers(source) };
  });

/** The same programs built by another compiler, where there is one. */
export const variants: readonly Program[] = programs
  .map((program) => ({ ...program, name: `${program.name}, clang`, binary: `${program.binary}-clang` }))
  .filter(({ binary }) => existsSync(binary));
