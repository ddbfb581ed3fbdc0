/* Call paths of threads whose program has no hooks: frames found by unwinding, put between what the thread's record
 * says.
 *
 * Owns:    the unwinder, and how much time may go into it.
 * Writer and reader: the aggregating thread.
 * Must not: touch the paths of programs with hooks; use frames of a thread that has since continued.
 */
#ifndef QZI_CALL_PATH_H
#define QZI_CALL_PATH_H

#include "sampler/profile/interner.h"
#include "unwinder.h"

struct qzi_paths;

#define QZI_CALLERS   4u
#define QZI_WALK_MOST (QZI_FRAMES_MOST + 64u)

/* Frames of one thread, procedures only, outermost first: what functions of the C library call is left out, and so are
 * the pthread layer and the code that starts threads. Behind a procedure of the program stand those that are inlined
 * into it at that place (keys, QZI_KEY_INLINED). */
/* MPI, on a walk. What its procedures do inside is not on the path: `called` is the outermost of them. */
enum qzi_mpi {
  QZI_MPI_NONE,
  QZI_MPI_CALL,   /* in a call that waits for no other process */
  QZI_MPI_WAITS,  /* in one that does (abi/mpi_call.h) */
  QZI_MPI_STARTS, /* in one that works until it sleeps for others: as all processes start, or end */
};

struct qzi_walk {
  uint32_t count;
  int in_layer; /* 1: what is left out is the pthread layer, and what that calls */
  int whole;    /* 1: it ends at the thread's beginning; 0: what called the outermost entry is not known */
  uint64_t entries[QZI_WALK_MOST];
  uint32_t loops[QZI_WALK_MOST]; /* behind each of them: a list of loops (inline_frames.h); 0: none */
  uint32_t start_loops;          /* the same of the start routine, which is not among them: its record has it */
  uint32_t callers;              /* the innermost places of the program's own code that wait for a call to return */
  struct {
    uint64_t pc;
    int framed;
  } caller[QZI_CALLERS]; /* return addresses; whether the frame is at the frame pointer there */
  uint64_t innermost;    /* entry of the innermost one that has code of its own; 0: none */
  uint64_t pc, pc_entry; /* instruction that the thread is at, and entry of its procedure, where that is in the
                          * program's own code; else 0 */
  uint64_t site; /* where the program's own code calls a library; without any, where a library calls the C library; 0:
                    unknown */
  uint32_t site_module;  /* index + 1 */
  int own;               /* 1: the site is in the program's own code */
  uint64_t called;       /* entry of the library's procedure that is called there; 0: none, or unknown */
  uint64_t caller_entry; /* entry of the procedure that the site is in; 0: unknown */
  enum qzi_mpi mpi;
};

/* NULL: no memory, or built without libdw. */
struct qzi_paths *qzi_paths_open(struct qzi_interner *in);
void qzi_paths_close(struct qzi_paths *paths);
void qzi_paths_prepare(struct qzi_paths *paths); /* qzi_unwinder_prepare */
/* A snapshot begins. Processor time that other threads have used for paths since the last one. */
uint64_t qzi_paths_begin(struct qzi_paths *paths);
/* 1: there is time left in this recording's share for unwinding (2 % of a CPU). */
int qzi_paths_may(struct qzi_paths *paths, uint64_t now_ns);
/* Time that walks took in all. */
uint64_t qzi_paths_spent_ns(const struct qzi_paths *paths);
/* How many procedures its path begins with that are those of its creator. */
uint32_t qzi_paths_base(const struct qzi_interner *in, uint32_t index);
/* 1: the record at `node` has procedures that hooks pushed. */
int qzi_paths_hooked(const struct qzi_interner *in, uint32_t index, uint32_t node);
/* 1: the procedure that has the code at `address` is on the path of that node. */
int qzi_paths_within(struct qzi_paths *paths, uint32_t node, uint64_t address);
/* Walks outwards from there. 0, or -1: nothing found. index QZI_NO_THREAD: the thread is not known, and its whole stack
 * is walked. */
#define QZI_NO_THREAD UINT32_MAX
int qzi_paths_walk(struct qzi_paths *paths, uint32_t index, const struct qzi_registers *from,
                   const struct qzi_stack_copy *copy, struct qzi_walk *walk);
/* 1: all that can be known of the frames of walks until now is known: nothing waits to be read. */
int qzi_paths_complete(const struct qzi_paths *paths);
/* 1: an MPI library created the thread with that record for its own use; *walk: where, without frames. */
int qzi_paths_mpi_thread(struct qzi_paths *paths, uint32_t index, struct qzi_walk *walk);
/* The same from the frame that the thread's record names. -1 also where the program's memory may not be read. */
int qzi_paths_walk_wait(struct qzi_paths *paths, uint32_t index, struct qzi_walk *walk);
/* Whether the code is a library's that the system installed (QZI_LIBRARY), of which C's and C++'s are distinguished; 0:
 * the program's. */
enum { QZI_LIBRARY = 1, QZI_LIBRARY_C };
int qzi_paths_library(struct qzi_paths *paths, uint64_t address);
/* The same, or the code is that of C++'s or Rust's own library, compiled into the program. */
int qzi_paths_serves(struct qzi_paths *paths, uint64_t address);
/* Its name in the symbol table ("": none), and whether it is a library's. */
const char *qzi_paths_symbol(struct qzi_paths *paths, uint64_t address, int *library);
int qzi_paths_vdso(struct qzi_paths *paths, uint64_t address); /* qzi_unwind_vdso */
uint32_t qzi_paths_pid(const struct qzi_paths *paths);         /* the program's */
/* An object is known by the place that made it or first used it, and a join by its place. Where that is in C's, C++'s
 * or Rust's own library it says nothing about the program: the place is then the program's own from which it was
 * waited for first. Joins called from several such places are one object, which stays as it was. */
void qzi_paths_settle_place(struct qzi_paths *paths, uint64_t key, const struct qzi_walk *walk);
/* A procedure takes that lock (a key); the same by a call that returns to `site`. */
void qzi_paths_taken(struct qzi_paths *paths, uint64_t key, uint64_t entry);
void qzi_paths_taken_at(struct qzi_paths *paths, uint64_t key, uint64_t site);
/* Node of the record's path with the frames in it. Locks stand where they were taken: after the innermost procedure
 * that called for them and still runs. Where that one is not among the frames, there are two cases: it is a wrapper,
 * which takes the lock for its caller and returns; or the frames are older than the lock. settled: 1 where they can't
 * be older; a procedure once found to be a wrapper stays one. Locks of wrappers stand before all frames; older frames
 * are replaced by the procedure that took the lock. What the thread waits for (key, 0: nothing) stands last. */
uint32_t qzi_paths_node(struct qzi_paths *paths, uint32_t node, const struct qzi_walk *walk, uint64_t waiting,
                        int settled);
/* The same of a sample by which the thread counts as having executed: its frames are right, and locks that were taken
 * after it are left out. */
uint32_t qzi_paths_ran(struct qzi_paths *paths, uint32_t node, const struct qzi_walk *walk, int settled);

#endif
