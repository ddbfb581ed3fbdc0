/* Publishing: the functions that the host calls to show its state to a sampler.
 *
 * Owns:    the functions. The private data beside what they publish is in embedded.h.
 * Writer:  publisher/ and the inline functions here are the only writers of the session (abi/session.h).
 * Reader:  the scheduler and the synchronization objects include this; nothing is read back from the session.
 * Must not: lock, allocate or call the kernel in an inline path; be used without a processor (i.e. by a foreign kernel
 * thread).
 *
 * Every inline function first tests one global flag, and does nothing else while nothing is published. Publishing may
 * begin or end between any two calls: of two calls that form a pair, only one may have been published.
 */
#ifndef QZI_PUBLISHER_H
#define QZI_PUBLISHER_H

#include "switches.h"
#include "object_records.h"
#include "calls_in_place.h"
#ifndef QZI_PUB_ONE_THREAD
#include "tasks.h"
#endif

#endif
