/* Linking with -pg, by the same flags that put in the hooks, would start gprof's own profiling: a timer signal, and a
 * file gmon.out at the end. These stand in for the two functions by which it starts and ends.
 *
 * Owns:    nothing. Writer, reader: none.
 * Must not: do anything.
 */
#pragma GCC visibility push(default)
void __monstartup(unsigned long low, unsigned long high);
void monstartup(unsigned long low, unsigned long high);
void _mcleanup(void);
#pragma GCC visibility pop

void __monstartup(unsigned long low, unsigned long high) {}
void monstartup(unsigned long low, unsigned long high) {}
void _mcleanup(void) {}
