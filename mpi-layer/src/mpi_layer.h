/* The MPI layer: stands in front of MPI's calls in the processes of an MPI program, and writes down who sent what when,
 * and how long calls waited. It calls MPI by the profiling interface (MPI 4.1, chapter 15), knows no implementation's
 * header, and sends no message of its own.
 *
 * Owns:    the log (abi/mpi_log.h), and tables of communicators, requests and numbers; all under one lock.
 * Writer and reader: threads of the program, within MPI's calls.
 * Must not: change what a call does or returns, allocate in the program's heap, or write anything where the program is
 * not recorded.
 */
#ifndef QZM_MPI_LAYER_H
#define QZM_MPI_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/hash.h"
#include "abi/mpi_log.h"
#include "clock.h"
#include "entry.h"

#define QZM_API     __attribute__((visibility("default")))
#define QZM_UNKNOWN (-1)

/* MPI's opaque handles are pointers, or ints: passed as they come. What implementations differ in: */
typedef uintptr_t qzm_handle;
struct qzm_implementation {
  size_t handle_bytes;
  qzm_handle world;        /* MPI_COMM_WORLD */
  int any_source, nowhere; /* MPI_ANY_SOURCE, MPI_PROC_NULL */
  uintptr_t ignored;       /* MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE */
  size_t status_bytes, source_at, tag_at;
};
extern struct qzm_implementation qzm_mpi;
#define QZM_ANY_TAG      (-1)
#define QZM_STATUS_BYTES 64u

/* Where the program calls which of these procedures. */
struct qzm_place {
  uint64_t site, called; /* return address; entry */
};

/* The implementation's procedure of that name, for a caller at `site`; never NULL: the program could not call it. */
void *qzm_real(const char *name, uint64_t site);
/* Where the program calls the procedure whose frame this is: its return address, unless a Fortran binding called it. */
uint64_t qzm_site(const void *frame, uint64_t return_address);
/* In each procedure: `real`, the implementation's, and `at`. */
#define QZM_REAL(name, ...)                                                                                      \
  static int (*real)(__VA_ARGS__);                                                                               \
  struct qzm_place at = {qzm_site(__builtin_frame_address(0), (uint64_t)(uintptr_t)__builtin_return_address(0)), \
                         (uint64_t)(uintptr_t)name};                                                             \
  if (__builtin_expect(!real, false)) real = (int (*)(__VA_ARGS__))(uintptr_t)qzm_real("P" #name, at.site)

qzm_handle qzm_read(const void *handle);                /* a handle in memory */
qzm_handle qzm_element(const void *handles, int index); /* of an array */
bool qzm_is_ignored(const void *status);

static inline uint64_t qzm_hash(uint64_t value) {
  value *= QZ_HASH_FACTOR;
  return value ^ (value >> 32);
}

/* ---- the log (under the lock) ---- */

/* Where the next event goes, whose number that is; NULL: it is not kept. All of it has to be written, without reading
 * it back, before qzm_log_add() makes it one of the log: its index + 1. */
struct qz_mpi_event *qzm_log_room(uint32_t number);
uint32_t qzm_log_add(void);
/* The same event, while it is still where it was written: events of `epoch` are. NULL: it is not. */
struct qz_mpi_event *qzm_log_at(uint32_t index, uint32_t epoch);
uint32_t qzm_log_epoch(void);
void qzm_log_lost(void);
/* Index of that place in the log; 0: no room. */
uint16_t qzm_log_site(struct qzm_place at);
/* Makes the log and hands it to the sampler. false: nobody records this process. */
bool qzm_log_open(uint32_t rank, uint32_t ranks);

/* ---- communicators (under the lock) ---- */

/* What identifies it on all its ranks, and its `rank` as one of MPI_COMM_WORLD (QZM_UNKNOWN: there is none). false: it
 * is not known which ranks it has (an inter-communicator). */
bool qzm_communicator(qzm_handle handle, int rank, uint64_t *id, int *world_rank);
/* MPI_COMM_NULL. */
qzm_handle qzm_null_communicator(uint64_t site);
/* Of all that a collective call makes of `parent` and its k-th such call, only ranks differ: the new one's identity.
 * Takes the lock. */
void qzm_made(qzm_handle parent, const void *made, uint64_t site);
void qzm_freed(qzm_handle handle);

/* ---- what happened (these take the lock) ---- */

/* A request under way. kind 0: none that matters. */
struct qzm_pending {
  qzm_handle request, communicator;
  uint64_t posted_ns;
  uint32_t kind, event, epoch, serial; /* event: index + 1 in the log, where it is there already */
  int peer, tag;                       /* as the program gave them */
  bool persistent, active;
};

/* begin_ns, end_ns: of the call that completes it. */
void qzm_message(uint32_t kind, qzm_handle communicator, int peer, int tag, const void *status, uint64_t posted_ns,
                 uint64_t begin_ns, uint64_t end_ns, struct qzm_place at);
void qzm_collective(uint32_t kind, qzm_handle communicator, int root, uint64_t begin_ns, uint64_t end_ns,
                    struct qzm_place at);
/* The same, begun with a request that completes later. */
void qzm_begun(uint32_t kind, qzm_handle communicator, int peer, int tag, const void *request, bool persistent,
               struct qzm_place at);
void qzm_started(const void *request);
/* Before a call that may complete the request. */
struct qzm_pending qzm_pending_of(qzm_handle request);
/* It has. status: its own, or NULL. */
void qzm_completed(const struct qzm_pending *pending, const void *status, uint64_t begin_ns, uint64_t end_ns,
                   struct qzm_place at);
/* The program gives a request up. */
void qzm_dropped(qzm_handle request);

/* ---- tables (under the lock) ---- */

/* The next number of that channel, from 0. kind: of enum qz_mpi_event_kind for messages, QZ_MPI_ALL for every
 * collective. UINT32_MAX: no room. */
uint32_t qzm_number(uint64_t communicator, int peer, int tag, uint32_t kind);
struct qzm_pending *qzm_request_add(qzm_handle request); /* NULL: no room */
struct qzm_pending *qzm_request_find(qzm_handle request);
void qzm_request_remove(struct qzm_pending *pending);

/* Memory that is no part of the program's heap; NULL. */
void *qzm_memory(size_t bytes);

#endif
