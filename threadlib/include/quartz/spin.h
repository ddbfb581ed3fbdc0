/* Macros that mark busy-wait loops. They can be used in programs with the thread package and in programs with plain
 * pthreads; a program that is linked without Quartz needs no library for them. */
#ifndef QUARTZ_SPIN_H
#define QUARTZ_SPIN_H

#ifdef __cplusplus
extern "C" {
#endif

/* # Marking busy-wait loops */

/* Put these around a loop that polls a variable until another thread changes it, so that Quartz reports the time of
 * the loop as spinning instead of as useful work:
 *
 *     QZ_SPIN_BEGIN(&flag);
 *     while (!atomic_load(&flag)) continue;
 *     QZ_SPIN_END(&flag);
 *
 * The argument is the address of the polled variable; reports show the variable's name, or, if it has no symbol, the
 * place of QZ_SPIN_BEGIN. Pairs do not nest: an inner pair does nothing. Any kernel thread may use them, but not a
 * signal handler. While a sampler is connected, a pair reads the clock twice: put it around the loop, after a first
 * test of the variable. Without a sampler both do nothing. */
#define QZ_SPIN_BEGIN(object) ((void)(qz_spin_begin ? (qz_spin_begin(object), 0) : 0))
#define QZ_SPIN_END(object)   ((void)(qz_spin_end ? (qz_spin_end(object), 0) : 0))

/* The functions behind the macros. In a program without Quartz they are undefined weak symbols, so the macros do
 * nothing. */
void qz_spin_begin(const void *object) __attribute__((weak));
void qz_spin_end(const void *object) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
