/* What one walk of a stack found. */
#ifndef QZI_WALK_H
#define QZI_WALK_H

#include "unwinder.h"

#define QZI_CALLERS   4u
#define QZI_WALK_MOST (QZI_FRAMES_MOST + 64u)
#define QZI_REGIONS   4u         /* parallel regions of OpenMP, one inside another; further ones are not looked at */
#define QZI_NO_THREAD UINT32_MAX /* as the index of a thread's record: the thread is unknown */

/* The MPI call that a walk is in. Procedures inside MPI are not on the path, except the outermost one (`called`). */
enum qzi_mpi {
  QZI_MPI_NONE,
  QZI_MPI_CALL,   /* in a call that does not wait for another process */
  QZI_MPI_WAITS,  /* in a call that may wait for another process (abi/mpi_call.h) */
  QZI_MPI_STARTS, /* in a call that works until it sleeps for other processes, as when all processes start or end */
};

/* One walk: the frames of one thread, procedures only, outermost first. Left out are procedures that the C library's
 * functions call, the pthread layer, and the code that starts threads. A procedure of the program is followed by those
 * that are inlined into it at that place (keys, QZI_KEY_INLINED). */
struct qzi_walk {
  uint32_t count;
  int in_layer; /* 1: the frames left out are those of the pthread layer and what it calls */
  int in_lock;  /* 1: of these, what takes or releases a lock of OpenMP: the layer says itself when that waits */
  int whole;    /* 1: the walk reached the thread's beginning; 0: the caller of the outermost entry is unknown */
  uint32_t start_loops; /* the list of loops that follows the start routine, which is not among the entries because the
                           thread's record has it */
  uint32_t thread;      /* index of the thread's record */
  uint32_t team_work;   /* index + 1 of the entry that a thread of OpenMP's own executes; 0: it is none */
  int team_task;        /* 1: that is not what a region executes, but a task */
  uint32_t forks;       /* number of valid elements in `fork` */
  struct {
    uint32_t at, body; /* number of entries up to there; index + 1 of what is executed there, 0: nothing */
    int task;          /* 1: that is a task, while the thread waits for the region's end */
  } fork[QZI_REGIONS]; /* parallel regions that the thread has begun, the outermost first */
  uint32_t callers;    /* number of valid elements in `caller`: the innermost calls in the program's own code */
  struct {
    uint64_t pc;
    int framed;
  } caller[QZI_CALLERS]; /* pc: return address; framed: whether the caller's frame is at the frame pointer */
  uint64_t innermost;    /* entry of the innermost procedure that is not inlined; 0: none */
  uint64_t pc, pc_entry; /* current instruction and entry of its procedure; 0 in the C library, MPI and the layer */
  int pc_own;            /* 1: that is in the program's own code */
  uint64_t site; /* place where the program's own code calls a library; if there is none, where a library calls the C
                    library; 0: unknown */
  uint32_t site_module;  /* module of the site: index + 1 */
  int own;               /* 1: the site is in the program's own code */
  uint64_t called;       /* entry of the library's procedure called there; 0: none, or unknown */
  uint64_t caller_entry; /* entry of the procedure that contains the site; 0: unknown */
  enum qzi_mpi mpi;
  /* Last, as most of it is unused: */
  uint64_t entries[QZI_WALK_MOST];
  uint32_t loops[QZI_WALK_MOST]; /* for each entry, the list of loops that follows it (inline_frames.h); 0: none */
};

#endif
