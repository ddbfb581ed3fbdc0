/* State for making paths from frames, and the steps: whose code a frame is in (path_code.c), MPI (mpi_frames.c), frames
 * of a walk (call_path.c), nodes of paths (path_nodes.c).
 *
 * Owns:    what was found out about modules, locks and places.
 * Writer and reader: the aggregating thread.
 * Must not: be used by any other file.
 */
#ifndef QZI_PATH_STEPS_H
#define QZI_PATH_STEPS_H

#include "abi/mpi_call.h"
#include "inline_frames.h"
#include "walk.h"

#define QZI_PATH_TAKERS    8u   /* procedures that take one lock; others are not distinguished from wrappers */
#define QZI_PATH_SITES     8u   /* call sites that take one lock; frames are not compared with others */
#define QZI_PATH_WRAPPERS  64u  /* slots of a hash table; a later procedure may replace an earlier one */
#define QZI_PATH_MPI_CALLS 64u  /* the same */
#define QZI_PATH_LAYER     64u  /* the same */
#define QZI_PATH_FORKS     64u  /* the same */
#define QZI_PATH_TEAMS     512u /* the same */

#define QZI_PATH_KEYS      512u /* entries of a path made by hooks and objects; deeper ones are left out */
/* Maximum number of entries of a path: its own, those between them, and all loops. */
#define QZI_PATH_MOST      (2 * QZI_PATH_KEYS + QZI_WALK_MOST * (2 + QZI_LOOPS_MOST) + QZI_LOOPS_MOST + 2)

/* LIBRARY: any other library that the system installed; MPI: a library of an MPI implementation */
enum qzi_code { QZI_CODE_OWN = 0, QZI_CODE_LIBRARY, QZI_CODE_MPI, QZI_CODE_LAYER, QZI_CODE_C, QZI_CODE_CXX };

/* The procedures that take a lock, and the call sites in them. */
struct qzi_takers {
  uint64_t key;
  uint32_t count, sites_count;
  uint64_t entries[QZI_PATH_TAKERS];
  struct {
    uint64_t entry, site;
  } sites[QZI_PATH_SITES]; /* site: return address of the call that takes the lock */
};

struct qzi_paths {
  struct qzi_interner *in;
  struct qzi_unwinder *unwinder;
  struct qzi_inlining *inlining; /* NULL: inlined procedures are not searched */
  uint64_t begun_ns;             /* of the last snapshot; 0: none yet */
  uint64_t allowed_ns, spent_ns; /* of all walks: processor time that they may take, and have taken */
  uint64_t cpu_ns; /* processor time of the calling thread when the snapshot began, or when the last long walk ended */
  uint8_t *codes;  /* by module: what is known of it (path_code.c); 0: not determined yet */
  uint32_t codes_count;
  struct qzi_table taker_table; /* finds elements of `takers` by the key of the object */
  struct qzi_takers *takers;
  uint32_t takers_count, takers_room;
  uint64_t wrappers[QZI_PATH_WRAPPERS]; /* entries of procedures that take locks for their callers */
  struct qzi_layer_procedure {
    uint64_t entry;
    uint32_t purposes; /* abi/purpose.h */
  } layer[QZI_PATH_LAYER];
  struct qzi_fork {
    uint64_t entry;
    int begins; /* whether it begins a parallel region */
  } forks[QZI_PATH_FORKS];
  struct qzi_team_path {
    uint64_t entry;  /* what the team executes, or what stands for it (team_paths.c) */
    uint32_t thread; /* index + 1 of the thread that began the region; 0: any */
    uint32_t node;   /* path that leads there */
  } teams[QZI_PATH_TEAMS];
  struct qzi_mpi_entry {
    uint64_t entry;
    enum qz_mpi_call call;
  } mpi_calls[QZI_PATH_MPI_CALLS];
  struct qzi_mpi_site {
    uint64_t site, called;
  } mpi_sites[QZI_PATH_MPI_CALLS];
  uint32_t mpi_readings; /* number of readings of the memory map when they were found */
  int mpi;               /* 1: an MPI library is loaded */
  struct qzi_frame frames[QZI_FRAMES_MOST];
};

/* Keys of a node's path, outermost first: at most QZI_PATH_KEYS. Returns their number. */
uint32_t qzi_path_keys(const struct qzi_interner *in, uint32_t node, uint64_t *keys);

/* Entry of the start routine of that thread; 0: it has none, or index is QZI_NO_THREAD. */
static inline uint64_t qzi_paths_start(const struct qzi_paths *paths, uint32_t index) {
  return index == QZI_NO_THREAD ? 0 : QZ_LOAD(&qz_session_thread(paths->in->view, index)->start);
}
/* Owner of the code of a module; module: index + 1, 0: none. */
enum qzi_code qzi_code_of(struct qzi_paths *paths, uint32_t module);
/* Owner of the code at an address in that module: in a statically linked program, the C library is part of the
 * program's module. */
enum qzi_code qzi_code_at(struct qzi_paths *paths, uint32_t module, uint64_t address);
static inline enum qzi_code qzi_code_of_frame(struct qzi_paths *paths, const struct qzi_frame *frame) {
  return qzi_code_at(paths, frame->module, frame->entry ? frame->entry : frame->pc);
}
/* 1: the frame, of the layer, takes or releases a lock of OpenMP (pthread-layer/src/interpose/openmp_locks.c). */
int qzi_code_takes_lock(struct qzi_paths *paths, const struct qzi_frame *frame);
/* 1: frame k of `all` belongs to the layer and to a parallel region (pthread-layer/src/interpose/openmp.c): the code
 * that it executes is the program's, or the library's, which divides the work. */
int qzi_code_passes_on(struct qzi_paths *paths, uint32_t k, uint32_t all);
/* 1: the module belongs to a library that executes parallel regions (OpenMP's). */
int qzi_code_executes_regions(struct qzi_paths *paths, uint32_t module);
/* 1: the frame is a procedure of the layer that starts a process or waits for a signal, in place of the C library's.
 * Nothing of that is published, so it is on the path as the C library's would be. */
int qzi_code_stands_in(struct qzi_paths *paths, const struct qzi_frame *frame);
static inline int qzi_code_is_library(enum qzi_code code) { return code == QZI_CODE_LIBRARY || code == QZI_CODE_MPI; }
static inline int qzi_code_starts_threads(enum qzi_code code) {
  return code == QZI_CODE_C || code == QZI_CODE_CXX || code == QZI_CODE_LAYER;
}

/* Parallel regions among the frames of a walk (team_paths.c). To be called for each frame, outermost first, with the
 * index that its entry has, if it has one; *inside is kept between calls, and at first says whether the library created
 * the thread. */
enum {
  QZI_REGIONS_NONE = 0,
  QZI_REGIONS_POOL,
  QZI_REGIONS_BEGINS,
  QZI_REGIONS_FORK,
  QZI_REGIONS_WAIT,
  QZI_REGIONS_OWN
};
void qzi_regions_add(struct qzi_paths *paths, struct qzi_walk *walk, const struct qzi_frame *frame, uint32_t at,
                     int *inside);
/* Keeps the path by which a thread (QZI_NO_THREAD: any) came to what a region executes; or, in place of an entry, to
 * the region in which it was last, and to the one whose end it waits for (node 0: none). */
enum { QZI_TEAM_REGION = 0, QZI_TEAM_END = 1 };
void qzi_team_path_keep(struct qzi_paths *paths, uint32_t thread, uint64_t entry, const uint64_t *keys, uint32_t count);
void qzi_team_path_over(struct qzi_paths *paths, uint32_t thread); /* it waits for the end of none */
/* Node of the path by which the thread that began the region came to what the walk's thread, one of OpenMP's own,
 * executes; 0: it is none, or this is not known. */
uint32_t qzi_team_path(struct qzi_paths *paths, const struct qzi_walk *walk);

/* Which MPI call the thread is in, by the frames *first .. count of `all`. Advances *first past the frames inside MPI,
 * which are left out of the path. */
enum qzi_mpi qzi_mpi_of(struct qzi_paths *paths, uint32_t count, uint32_t all, uint32_t *first);
/* Sets the site of the MPI call: in the program's code, or in a library that calls MPI for the program (Python's). */
void qzi_mpi_site(const struct qzi_paths *paths, uint32_t all, uint32_t first, struct qzi_walk *walk);

#endif
