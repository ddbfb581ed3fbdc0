/* Linking with -pg, by the same flags that insert the hooks, would start gprof's own profiling: a timer signal, and a
 * file gmon.out at the end. These functions replace the ones that start and end it.
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
