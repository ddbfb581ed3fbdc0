/** The help text of `quartz` itself; examples come first. */

/** `commands`: name and summary of each command, in the order of the help. */
export function overview(commands: Readonly<Record<string, { summary: string }>>): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  return `Quartz: which procedures, locks and threads of a parallel program cost elapsed time, and what would help.

Examples
  quartz demo                             run Quartz on an example program
  quartz run -- ./prog args               record a program as it is, then report what limits it
  quartz report --focus create_cone       one procedure, lock or thread: when it ran, beside how many others
  quartz locks                            who waited for which lock, and who held it
  quartz compare old.quartz new.quartz    the effect of a change of the program
  quartz top -- ./prog args               the same live, on a screen
  cc -g $(quartz cflags) prog.c -pthread  compile with hooks: every call is counted
  cc -g $(quartz cflags) prog.c $(quartz libs)
                                          link with Quartz's own threads

Commands
${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  .join('\n')}

  Run quartz COMMAND --help for its options. quartz --version prints the version.

Exit codes
  2 wrong usage, 125 Quartz failed, 126 program cannot be executed, 127 program not found,
  otherwise the program's own status (128 + n if signal n ended it)
`;
}
