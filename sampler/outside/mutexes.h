/* Mutexes of a program that is watched from outside: those that threads wait for, and who owns them, which glibc writes
 * into each mutex (pthread_mutex_t, on x86-64 and aarch64).
 *
 * Owns:    the objects of the session, and what stands on its records' stacks: the mutexes that a thread owns, as long
 *          as others wait for them, or did a moment ago.
 * Writer and reader: the aggregating thread.
 * Must not: take something for a mutex that does not look like one, with an owner that is a thread of the program.
 */
#ifndef QZI_OUTSIDE_MUTEXES_H
#define QZI_OUTSIDE_MUTEXES_H

#include "session.h"

/* A thread sleeps on the futex at `address`, in a procedure that takes a mutex; the program called it at `site`. Index
 * of the mutex's object in the session; 0: it is none, or there is no room. */
uint32_t qzi_outside_mutex(struct qzi_outside *outside, uint64_t address, uint64_t site, uint64_t now_ns);
/* A thread waits for that object in this snapshot. */
void qzi_outside_waits(struct qzi_outside *outside, uint32_t object, uint64_t now_ns);
/* All threads have been looked at: this snapshot stands for so much time. */
void qzi_outside_waited(struct qzi_outside *outside, uint64_t ns);

#endif
