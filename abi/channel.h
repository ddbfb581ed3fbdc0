/* How a sampler and a program find each other, and the messages on their socket.
 *
 * Owns:    the protocol and the socket names.
 * Writer and reader: both sides; neither waits for the other once the program runs.
 *
 * Sockets are AF_UNIX, SOCK_SEQPACKET, in the abstract name space (nothing is left behind when a process is killed).
 * Each side checks by SO_PEERCRED that the other belongs to the same user or to root; a sampler of root accepts every
 * user.
 *
 * - Launched: the sampler listens on the name in QUARTZ_SESSION (without the leading NUL) and starts the program. The
 *   program connects while it initializes, sends QZ_HELLO with the session's descriptor (SCM_RIGHTS), and waits at most
 *   20 s for QZ_WELCOME, which the sampler sends when it takes snapshots. Publishing is then on. A forked or exec'ed
 *   child that has QUARTZ_SESSION does the same if QUARTZ_CHILDREN says so; otherwise it ignores the variable and runs
 *   unpublished.
 * - Attached: a program that no sampler launched listens on "quartz-program-PID" (in a kernel thread of its own, which
 *   sleeps). The sampler connects and sends QZ_ATTACH; the program answers QZ_HELLO with the descriptor, and publishes.
 *
 * With QZ_WELCOME and QZ_ATTACH, the sampler sends the descriptor of its clock page (struct qz_clock_page); without it
 * there is no time path. In both cases publishing ends when the connection does: on QZ_DETACH, or when the sampler
 * dies. A program that is a rank of an MPI program, as soon as it knows that, sends QZ_MESSAGES with the descriptor of
 * a log (mpi_log.h), which the sampler reads when recording ends. If the clock page asks for samples, it sends
 * QZ_SAMPLES with the descriptor of its ring of samples (signal_samples.h). If the program closes the connection (it
 * may close all its descriptors), that means nothing to the sampler; it detects the end of the program by a pidfd.
 */
#ifndef QZ_ABI_CHANNEL_H
#define QZ_ABI_CHANNEL_H

#include <stdint.h>

#define QZ_CHANNEL_MAGIC     UINT32_C(0x515a4348)
#define QZ_CHANNEL_VERSION   1u
#define QZ_CHANNEL_ENV       "QUARTZ_SESSION"
#define QZ_CHANNEL_PROGRAM   "quartz-program-%ld" /* %ld: the PID */

/* Which processes that the launched program starts are recorded as well. Not set: none. */
#define QZ_CHILDREN_ENV      "QUARTZ_CHILDREN"
#define QZ_CHILDREN_ALL      "1"
#define QZ_CHILDREN_FOLLOW   "follow" /* those started by a wrapper, i.e. by a process that has done no work itself */
/* Text of QZ_HELLO from a followed forked child that continues as the same program. */
#define QZ_HELLO_FORKED      "forked"
/* Like FOLLOW, in a process that was followed: it reports nothing to its user. */
#define QZ_CHILDREN_FOLLOWED "followed"

/* The costs of publishing on this machine, measured by an earlier process (publisher/calibration.c). Not set:
 * unknown. */
#define QZ_CALIBRATION_ENV   "QUARTZ_CALIBRATION"

enum qz_message_type {
  QZ_HELLO = 1,
  QZ_WELCOME = 2,
  QZ_ATTACH = 3,
  QZ_DETACH = 4,
  QZ_REFUSED = 5,
  QZ_MESSAGES = 6,
  QZ_SAMPLES = 7
};

struct qz_message {
  uint32_t magic;   /* QZ_CHANNEL_MAGIC */
  uint32_t version; /* QZ_CHANNEL_VERSION */
  uint32_t type;    /* enum qz_message_type */
  uint32_t pid;     /* of the sender */
  char text[112];   /* QZ_REFUSED: the reason, NUL-terminated; empty: the refusing side has printed it */
};

#endif
