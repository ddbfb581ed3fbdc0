/* Call paths of threads whose program has no hooks: frames found by unwinding are inserted between the entries of the
 * thread's record.
 *
 * Owns:    the unwinder, and the budget of time for it.
 * Writer and reader: the aggregating thread.
 * Must not: touch the paths of programs with hooks; use frames of a thread that has since continued.
 */
#ifndef QZI_CALL_PATH_H
#define QZI_CALL_PATH_H

#include "sampler/profile/interner.h"
#include "walk.h"

struct qzi_paths;

/* Returns NULL if there is no memory, or if the sampler was built without libdw. */
struct qzi_paths *qzi_paths_open(struct qzi_interner *in);
void qzi_paths_close(struct qzi_paths *paths);
void qzi_paths_prepare(struct qzi_paths *paths); /* calls qzi_unwinder_prepare */
/* To be called at the beginning of each snapshot. spare: 1: the program leaves a CPU idle. Returns the processor time
 * in ns that other threads have used for paths since the last call. */
uint64_t qzi_paths_begin(struct qzi_paths *paths, uint64_t now_ns, int spare);
/* Whether this recording's share of time for unwinding (2 % of a CPU, 10 % of an idle one) is not used up. */
int qzi_paths_may(const struct qzi_paths *paths);
/* Time in ns that all walks took. */
uint64_t qzi_paths_spent_ns(const struct qzi_paths *paths);
/* Number of procedures at the beginning of the thread's path that are its creator's. */
uint32_t qzi_paths_base(const struct qzi_interner *in, uint32_t index);
/* Whether the record at `node`, of the thread with that serial, contains procedures that hooks pushed; -1: it has
 * ended, and this is no longer known. */
int qzi_paths_hooked(const struct qzi_interner *in, uint32_t index, uint64_t serial, uint32_t node);
/* Whether the procedure that contains `address` is on the path of `node`. */
int qzi_paths_within(struct qzi_paths *paths, uint32_t node, uint64_t address);
/* Walks the stack outwards from `from`. Returns 0, or -1 if it found nothing. index QZI_NO_THREAD: the thread is
 * unknown; then its whole stack is walked. */
int qzi_paths_walk(struct qzi_paths *paths, uint32_t index, const struct qzi_registers *from,
                   const struct qzi_stack_copy *copy, struct qzi_walk *walk);
/* 1: the last walk began in a copy of the stack, and read memory outside it. */
int qzi_paths_beyond(const struct qzi_paths *paths);
/* The same for the innermost procedure alone, where qzi_paths_may says 0: its callers are unknown. */
int qzi_paths_walk_innermost(struct qzi_paths *paths, uint32_t index, const struct qzi_registers *from,
                             struct qzi_walk *walk);
/* 1: the frames of all walks so far are completely known; no debug information is still to be read. */
int qzi_paths_complete(const struct qzi_paths *paths);
/* The thread with that record executes only a region of OpenMP to which the path of `node` leads; 0: any. */
void qzi_paths_serves_region(struct qzi_paths *paths, uint32_t index, uint32_t node);
/* 1: an MPI library created the thread with that record for its own use; *walk receives where, without frames. */
int qzi_paths_mpi_thread(struct qzi_paths *paths, uint32_t index, struct qzi_walk *walk);
/* qzi_paths_walk from the frame that the thread's record contains. Returns -1 also if the program's memory may not be
 * read. */
int qzi_paths_walk_wait(struct qzi_paths *paths, uint32_t index, struct qzi_walk *walk);
/* Whether the code belongs to a library that the system installed: QZI_LIBRARY, or QZI_LIBRARY_C for those of C and
 * C++; 0: to the program. */
enum { QZI_LIBRARY = 1, QZI_LIBRARY_C };
int qzi_paths_library(struct qzi_paths *paths, uint64_t address);
/* Whether qzi_paths_library is true, or the code is from C++'s or Rust's own library, compiled into the program. */
int qzi_paths_serves(struct qzi_paths *paths, uint64_t address);
/* Name in the symbol table of the procedure that contains the address ("": none); *library: whether it is a
 * library's. */
const char *qzi_paths_symbol(struct qzi_paths *paths, uint64_t address, int *library);
int qzi_paths_vdso(struct qzi_paths *paths, uint64_t address); /* calls qzi_unwind_vdso */
uint32_t qzi_paths_pid(const struct qzi_paths *paths);         /* pid of the program */
/* Corrects the place by which an object is identified. That is the place that created or first used it; for a join, the
 * place of the call. A place in C's, C++'s or Rust's own library says nothing about the program; it is replaced by the
 * place in the program's own code from which the object was first waited for. A join called from several such places is
 * one object, and keeps its original place. */
void qzi_paths_settle_place(struct qzi_paths *paths, uint64_t key, const struct qzi_walk *walk);
/* Records that the procedure `entry` takes the lock `key`; qzi_paths_taken_at: that a call which returns to `site`
 * does. */
void qzi_paths_taken(struct qzi_paths *paths, uint64_t key, uint64_t entry);
void qzi_paths_taken_at(struct qzi_paths *paths, uint64_t key, uint64_t site);
/* Returns the node of the record's path with the walk's frames inserted. A lock stands where it was taken: after the
 * innermost procedure that called for it and is still running. If that procedure is not among the frames, either it is
 * a wrapper, which takes the lock for its caller and returns, or the frames are older than the lock. settled: 1 if they
 * can't be older; a procedure once found to be a wrapper remains one. Locks of wrappers stand before all frames; older
 * frames are replaced by the procedure that took the lock. The object that the thread waits for (key `waiting`, 0:
 * none) stands last. */
uint32_t qzi_paths_node(struct qzi_paths *paths, uint32_t node, const struct qzi_walk *walk, uint64_t waiting,
                        int settled);
/* The same for a sample by which a thread counts as having executed: its frames are correct, and locks that were taken
 * after it are left out. */
uint32_t qzi_paths_ran(struct qzi_paths *paths, uint32_t node, const struct qzi_walk *walk, int settled);

#endif
