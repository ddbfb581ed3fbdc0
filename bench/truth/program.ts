/**
 * What a program of the bench of truth is: how it runs, and what was registered before Quartz saw it for the first
 * time.
 */
import type { FindingKind } from '../../ts-frontend/src/model/index.js';

export interface Command {
  argv: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** The cause, by knowledge of the program and by plain tools and experiments alone. */
export interface Registered {
  on: string; // date
  cause: string;
  /** Findings that name it: their kinds, and what their sentences name. */
  kinds: readonly FindingKind[];
  subject: RegExp;
  /** The change that was tried. What it saved is in registered.json, measured before Quartz ran. */
  fix: string;
  /** The change divides the work among more threads (or processes), one for each CPU. */
  spreads?: boolean;
  /** The change has one thread do all of the work. */
  joins?: boolean;
}

export interface Program {
  name: string;
  language: string;
  kind: string; // compressor, renderer, ...
  needs: readonly string[]; // commands that must be there; Debian packages that have them: `packages`
  packages: readonly string[];
  /** Shell text that makes inputs in the working directory, once. */
  prepare?: string;
  run: Command;
  fixed: Command;
  registered: Registered;
}
