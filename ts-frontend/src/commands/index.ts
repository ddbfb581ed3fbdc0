/** The commands, in the order of the help. A command's own module is loaded only when the command runs. */
import type { Command } from '../cli/command.js';

interface Entry {
  summary: string;
  load: () => Promise<{ command: Command }>;
}

export const commands: Readonly<Record<string, Entry>> = {
  run: { summary: 'record a program, then report', load: () => import('./run.js') },
  record: { summary: 'record a program into a profile', load: () => import('./record.js') },
  attach: { summary: 'record a program that is running already', load: () => import('./attach.js') },
  top: { summary: 'watch a program, or look at a profile, on a live screen', load: () => import('./top.js') },
  report: {
    summary: 'show what limits the program, then its procedures, locks or threads',
    load: () => import('./report.js'),
  },
  locks: { summary: 'show who waited for which lock, and who held it', load: () => import('./locks.js') },
  threads: { summary: 'show what each thread spent its time on', load: () => import('./threads.js') },
  path: {
    summary: 'show the critical path: which thread ended which wait, from the end of the run to its beginning',
    load: () => import('./path.js'),
  },
  tree: {
    summary: 'show what limits a program and all processes that descend from it',
    load: () => import('./tree.js'),
  },
  compare: { summary: 'compare two profiles: what became faster or slower', load: () => import('./compare.js') },
  export: {
    summary: "convert a profile to another tool's format: pprof, speedscope, flame graphs, ...",
    load: () => import('./export.js'),
  },
  flame: {
    summary: 'show where elapsed time was spent, as an icicle graph in the terminal',
    load: () => import('./flame.js'),
  },
  html: {
    summary: 'write a profile, or a comparison of two, as a self-contained HTML page',
    load: () => import('./html.js'),
  },
  merge: { summary: 'merge profiles, such as those of all ranks, into one set', load: () => import('./merge.js') },
  query: { summary: 'query a set of profiles, by predefined views or SQL', load: () => import('./query.js') },
  serve: {
    summary: 'record a program, and serve its profile over HTTP to Prometheus, pprof and others',
    load: () => import('./serve.js'),
  },
  mcp: { summary: 'serve profiles to coding agents (Model Context Protocol)', load: () => import('./mcp.js') },
  demo: { summary: 'build and run an example under Quartz, and show its report', load: () => import('./demo.js') },
  cflags: { summary: 'print compiler flags for programs to be profiled', load: () => import('./cflags.js') },
  libs: { summary: 'print linker flags for programs that use the thread package', load: () => import('./libs.js') },
  check: { summary: 'check that a profile is undamaged and consistent', load: () => import('./check.js') },
};
