/* What a program's open sockets say about whom it waits for: a server, which listens, may be at rest; a client, which
 * is connected and does not listen, waits for replies; a program without either waits for time-outs, or for events on
 * its own machine (docs/reference/findings.md, "Input and output").
 *
 * Owns:    when to look again.
 * Writer:  the control thread. Reader: the first sampling thread, which writes `found` into the profile.
 */
#ifndef QZI_OPEN_SOCKETS_H
#define QZI_OPEN_SOCKETS_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

struct qzi_open_sockets {
  _Atomic uint32_t found; /* QZ_SOCKETS_... of all looks together */
  uint64_t due_ns;        /* time of the next look */
  uint64_t each_ns;       /* time between the last two */
};

/* What the process has open now: QZ_SOCKETS_..., 0 if that may not be read. Reads /proc: about a millisecond for 10,000
 * connections of the machine. */
uint32_t qzi_open_sockets_of(pid_t pid);
/* Looks if it is time to: soon after the start, since many programs are short, and then at growing intervals, until
 * the program is known to listen. */
void qzi_open_sockets_tend(struct qzi_open_sockets *sockets, pid_t pid, uint64_t now_ns);

#endif
