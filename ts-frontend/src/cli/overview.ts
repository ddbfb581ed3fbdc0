/** The help of `quartz` itself: examples first. */

/** commands: each with what it does, in the order shown. */
export function overview(commands: Readonly<Record<string, { summary: string }>>): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  return `Quartz: which procedures, locks and threads of a parallel program cost elapsed time, and what would help.

Examples
  quartz demo                             see it at work on a real program
  quartz run -- ./prog args               record a program as it is, then report what limits it
  quartz report --focus create_cone       one procedure, lock or thread: when it ran, with whom, its children
  quartz locks                            who waited for which lock, and who held it
  quartz compare old.quartz new.quartz    what a change of the program did
  quartz top -- ./prog args               the same live, on a screen
  cc -g $(quartz cflags) prog.c -pthread  with hooks: every call counted
  cc -g $(quartz cflags) prog.c $(quartz libs)
                                          with Quartz's own threads

Commands
${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  .join('\n')}

  quartz COMMAND --help says more. quartz --version prints the version.

Exit codes
  2 wrong usage, 125 Quartz failed, 126 program cannot be executed, 127 program not found,
  else the program's own status (128 + n when signal n ended it)
`;
}
