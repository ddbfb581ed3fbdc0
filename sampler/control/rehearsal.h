/* Whether the sampler can work where it was started: under a filter of system calls (seccomp) that kills for what it
 * needs, the program had better run without it.
 *
 * Owns:    nothing. Writer: main, before it does anything else; a child of its own makes the calls. Reader: main.
 * Must not: leave out a call that the sampler makes before the program's end
 * (test/end-to-end/pthread-layer/sandboxed.test.ts holds the list).
 */
#ifndef QZI_REHEARSAL_H
#define QZI_REHEARSAL_H

/* 1: such a filter is there. */
int qzi_forbidden(void);

#endif
