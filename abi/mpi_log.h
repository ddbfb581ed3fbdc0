/* What a rank of an MPI program logs about its messages and collectives: a memory file that the MPI layer makes and
 * writes, and sends to the sampler (QZ_MESSAGES of channel.h), which copies it into the profile when recording ends.
 *
 * Owns:    the layout. It is bounded: when it is full, only events whose number is a multiple of a power of two are
 *          kept; all ranks decide by the same numbers, so the events that are kept still match.
 * Writer:  the MPI layer, under a lock of its own.
 * Reader:  the sampler, which trusts nothing in it.
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
  QZ_MPI_SENT = 1,      /* a message sent to `peer` */
  QZ_MPI_RECEIVED = 2,  /* a message received from `peer` */
  QZ_MPI_ALL = 3,       /* a collective that no rank leaves before all have entered: barrier, all-reduce, all-to-all */
  QZ_MPI_FROM_ROOT = 4, /* a collective that waits for the root, `peer`: broadcast, scatter */
  QZ_MPI_TO_ROOT = 5,   /* a collective whose root waits for all: reduce, gather */
  QZ_MPI_PREFIX = 6     /* a collective that waits for all lower ranks: scan */
};

/* A send and a receive match if sender, receiver, communicator, tag and number are equal; collectives match if
 * communicator and number are equal. */
struct qz_mpi_event {
  uint64_t posted_ns;    /* CLOCK_MONOTONIC at the start of the send, receive or collective, */
  uint64_t begin_ns;     /* (changes) and of the call that completed it; both are equal for a blocking call */
  uint64_t ns;           /* (changes) duration of the latter; 0: it did not wait, or has not ended */
  uint64_t communicator; /* the same value on all its ranks */
  uint32_t number; /* counts like events, from 0: messages with the same peer, tag and communicator; collectives of the
                      communicator */
  int32_t peer;    /* rank in MPI_COMM_WORLD; -1: all */
  int32_t tag;
  uint16_t kind; /* enum qz_mpi_event_kind */
  uint16_t site; /* (changes) call site of the completing call, as index into sites; 0: unknown */
};

/* A place of the program that calls MPI. */
struct qz_mpi_site {
  uint64_t address; /* return address; 0: none */
  uint64_t called;  /* entry address of the layer's procedure that is called there */
};

struct qz_mpi_log {
  uint32_t magic, version;
  uint32_t rank, ranks; /* in MPI_COMM_WORLD */
  uint32_t capacity;
  uint32_t count;    /* (changes) number of events written */
  uint32_t thinning; /* (changes) only events whose number is a multiple of 2^thinning are kept. Raised before events
                        move: a reader reads it before and after reading events */
  uint32_t reserved;
  uint64_t lost; /* (changes) events that did not fit */
  struct qz_mpi_site sites[QZ_MPI_SITES];
  struct qz_mpi_event events[];
};

#endif
