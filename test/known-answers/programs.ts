/** The locations of the programs with known answers, as sources and built. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.js';
import { readAnswers, type Answers } from './answers.js';

export interface Program {
  name: string;
  source: string;
  binary: string;
  answers: Answers;
}

export const programs: readonly Program[] = readdirSync(join(root, 'test/known-answers/threadlib-programs'))
  .filter((file) => /\.(c|cc)$/.test(file))
  .sort()
  .map((file) => {
    const name = file.replace(/\.\w+$/, '');
    const source = join(root, 'test/known-answers/threadlib-programs', file);
    return {
      name,
      source,
      binary: join(root, 'build/test/known-answers/threadlib-programs', name),
      answers: readAnswers(source),
    };
  });

/** The same, built with the thread package that traces every change (test/known-answers/oracle). */
export const traced: readonly Program[] = programs.map((program) => ({
  ...program,
  binary: join(root, 'build/test/known-answers/oracle', program.name),
}));

/**
 * Programs whose control leaves procedures in unusual ways, which the hooks of each compiler handle differently: they
 * are built by clang, too.
 */
const variedByClang = ['exceptions', 'longjmp', 'recursion', 'counts'];
const clang: readonly Program[] = programs
  .filter(({ name }) => variedByClang.includes(name))
  .map((program) => ({ ...program, name: `${program.name}, clang`, binary: `${program.binary}-clang` }));
/** The programs that the build has made, and those that it could not make because clang is not installed. */
export const variants = clang.filter(({ binary }) => existsSync(binary));
export const missing = clang.filter(({ binary }) => !existsSync(binary));
