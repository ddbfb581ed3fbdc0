/* What an MPI program's rank says of its messages and collectives: a memory file that the MPI layer makes and writes,
 * and hands to the sampler (QZ_MESSAGES of channel.h), which copies it into the profile when recording ends.
 *
 * Owns:    the layout. Bounded: where there is no more room, only events whose number is a multiple of a power of two
 *          are kept; all ranks decide by the same numbers, so what is kept still matches.
 * Writer:  the MPI layer, under a lock of its own. Reader: the sampler, which trusts nothing in it.
 */
#ifndef QZ_ABI_MPI_LOG_H
#define QZ_ABI_MPI_LOG_H

#include <stdint.h>

#define QZ_MPI_LOG_MAGIC    UINT32_C(0x515a4d50)
#define QZ_MPI_LOG_VERSION  1u
#define QZ_MPI_LOG_CAPACITY (UINT32_C(1) << 18)
#define QZ_MPI_THIN_MOST    31u
#define QZ_MPI_SITES        4096u

enum qz_mpi_event_kind {
  QZ_MPI_SENT = 1,      /* a message to `peer` */
  QZ_MPI_RECEIVED = 2,  /* one from `peer` */
  QZ_MPI_ALL = 3,       /* a collective that nobody leaves before all have come: barrier, all-reduce, all-to-all */
  QZ_MPI_FROM_ROOT = 4, /* one that waits for the root, `peer`: broadcast, scatter */
  QZ_MPI_TO_ROOT = 5,   /* one whose root waits for all: reduce, gather */
  QZ_MPI_PREFIX = 6     /* one that waits for all lower ranks: scan */
};

/* Messages match where sender, receiver, communicator, tag and number are equal; collectives where communicator and
 * number are. */
struct qz_mpi_event {
  uint64_t posted_ns;    /* CLOCK_MONOTONIC: the send, receive or collective was begun, */
  uint64_t begin_ns;     /* (changes) and the call that completed it; the same where that is one call */
  uint64_t ns;           /* (changes) that this one took; 0: it did not wait, or is not known to have ended */
  uint64_t communicator; /* the same on all its ranks */
  uint32_t number; /* among alike events, from 0: of a message those with the same peer, tag and communicator, of a
                    * collective all those of the communicator */
  int32_t peer;    /* rank in MPI_COMM_WORLD; -1: all */
  int32_t tag;
  uint16_t kind; /* enum qz_mpi_event_kind */
  uint16_t site; /* (changes) of the call that completed it: index into sites; 0: not known */
};

/* A place of the program that calls MPI. */
struct qz_mpi_site {
  uint64_t address; /* return address; 0: none */
  uint64_t called;  /* the procedure of the layer's that is called there, by its entry */
};

struct qz_mpi_log {
  uint32_t magic, version;
  uint32_t rank, ranks; /* of MPI_COMM_WORLD */
  uint32_t capacity;
  uint32_t count;    /* (changes) events written */
  uint32_t thinning; /* (changes) only numbers that are multiples of 2^thinning are kept. Raised before events move:
                      * read before and after them */
  uint32_t reserved;
  uint64_t lost; /* (changes) events for which there was no room */
  struct qz_mpi_site sites[QZ_MPI_SITES];
  struct qz_mpi_event events[];
};

#endif
