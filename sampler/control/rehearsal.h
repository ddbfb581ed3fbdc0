/* Checks whether the sampler can work here: if a system call filter (seccomp) kills processes for calls that it needs,
 * the program should run without it.
 *
 * Owns:    nothing.
 * Writer: main, before it does anything else; a child process makes the calls. Reader: main.
 * Must not: omit a call that the sampler makes before the program's end
 * (test/end-to-end/pthread-layer/sandboxed.test.ts checks the list).
 */
#ifndef QZI_REHEARSAL_H
#define QZI_REHEARSAL_H

/* Returns 1 if there is such a filter. */
int qzi_forbidden(void);

#endif
