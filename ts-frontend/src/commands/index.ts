/** The commands, in the order of the help. A command's own file is loaded only when it runs. */
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
    summary: 'what limits the program, then its procedures, locks or threads',
    load: () => import('./report.js'),
  },
  locks: { summary: 'who waited for which lock, and who held it', load: () => import('./locks.js') },
  threads: { summary: 'what each thread did with its time', load: () => import('./threads.js') },
  path: {
    summary: 'why it took that long: which thread ended which wait, from the end back to the beginning',
    load: () => import('./path.js'),
  },
  tree: {
    summary: 'a program and all processes that descend from it: what limits the whole',
    load: () => import('./tree.js'),
  },
  compare: { summary: 'two profiles side by side: what got better and what worse', load: () => import('./compare.js') },
  export: {
    summary: "a profile in another tool's format: pprof, speedscope, flame graphs, ...",
    load: () => import('./export.js'),
  },
  flame: {
    summary: 'where elapsed time went, as an icicle graph in the terminal',
    load: () => import('./flame.js'),
  },
  html: {
    summary: 'a profile, or two beside each other, as one HTML page to be forwarded',
    load: () => import('./html.js'),
  },
  merge: { summary: 'many profiles, such as those of all ranks, as one set', load: () => import('./merge.js') },
  query: { summary: 'ask a set of profiles: ready views, or SQL', load: () => import('./query.js') },
  serve: {
    summary: 'record a program, and answer Prometheus, pprof and the like over HTTP while it runs',
    load: () => import('./serve.js'),
  },
  mcp: { summary: 'what coding agents can ask of profiles (Model Context Protocol)', load: () => import('./mcp.js') },
  demo: { summary: 'build and run an example under Quartz, and show its report', load: () => import('./demo.js') },
  cflags: { summary: 'compiler flags for programs to be profiled', load: () => import('./cflags.js') },
  libs: { summary: 'linker flags for programs that use the thread package', load: () => import('./libs.js') },
  check: { summary: 'check that a profile adds up', load: () => import('./check.js') },
};
