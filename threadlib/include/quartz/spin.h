/* Marks of loops that wait by looking again and again. For programs with the thread package and for those with plain
 * pthreads; a program without Quartz needs no library for them. */
#ifndef QUARTZ_SPIN_H
#define QUARTZ_SPIN_H

#ifdef __cplusplus
extern "C" {
#endif

/* # Loops that wait by themselves */

/* Put around a loop that looks until another thread has changed something, so that it does not pass for work:
 *
 *     QZ_SPIN_BEGIN(&flag);
 *     while (!atomic_load(&flag)) continue;
 *     QZ_SPIN_END(&flag);
 *
 * The argument is the address of what is looked at; reports name it by its variable, else by the place of
 * QZ_SPIN_BEGIN. Pairs do not nest: an inner one does nothing. Any kernel thread may use them, no signal handler.
 * While a sampler is connected the pair takes two readings of the clock: put it around the loop, not around the
 * first look. Else both do nothing. */
#define QZ_SPIN_BEGIN(object) ((void)(qz_spin_begin ? (qz_spin_begin(object), 0) : 0))
#define QZ_SPIN_END(object)   ((void)(qz_spin_end ? (qz_spin_end(object), 0) : 0))

/* What the macros call. In a program without Quartz they are not there. */
void qz_spin_begin(const void *object) __attribute__((weak));
void qz_spin_end(const void *object) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
