/* Processes that have just begun: they go on at once, and are recorded once they have worked for a while. These are
 * followed ones.
 *
 * Most of what a script starts ends within a few milliseconds. Beginning a recording takes that long, too, and nothing
 * would be kept of it. So such a process that says hello is welcomed at once (which takes the sampler some ten
 * system calls), publishes into its session, and its recording is opened when it is worth one: then everything that was
 * counted before is in the session, and only its first milliseconds have no samples.
 *
 * Owns:    the connections of these processes, until they have ended or are admitted. Writer and reader: the control
 * thread.
 */
#ifndef QZI_NEWCOMERS_H
#define QZI_NEWCOMERS_H

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>
#include "sampler/path/clock_page.h"

#define QZI_NEWCOMERS_MAX 32 /* at a time */

struct qzi_newcomer {
  pid_t pid;
  int socket, session;         /* socket is -1 if the connection is closed */
  int samples;                 /* ring of samples that it has sent (QZ_SAMPLES); -1: none */
  struct qzi_clock_page clock; /* the page that it received when it connected */
  uint64_t begun_ns, due_ns;   /* when it connected; when it is checked next */
  uint64_t used_ns;            /* its processor time at the last check */
  int forked;                  /* struct qzi_target */
  int passed;                  /* whether it has reported its end */
};

/* Accepts a process (its times need not be known) and takes over its connection. Returns -1 if there is no room, or
 * if it cannot be reached; then the connection remains the caller's. */
int qzi_newcomer_welcome(const struct qzi_newcomer *who);
/* Removes a process that executes another program, or is not to be recorded after all. */
void qzi_newcomer_forget(pid_t pid);
/* No further process is recorded. */
void qzi_newcomers_forget(void);
/* Fills in one descriptor to poll for each process; returns their number. */
unsigned qzi_newcomers_poll(struct pollfd *polls);
/* Handles the results of poll for the `polls` filled in before. */
void qzi_newcomers_attend(const struct pollfd *polls, unsigned count);
/* Removes a process that is to be recorded from the list and passes its connection to the caller. Returns 0 if there
 * is none. */
int qzi_newcomer_grown(struct qzi_newcomer *grown);
/* Closes what the caller keeps of a process whose connection and clock page have been passed on. */
void qzi_newcomer_close(const struct qzi_newcomer *grown);
/* Milliseconds until the next check is due; -1 if there is none. */
int qzi_newcomers_due_ms(void);
/* Informs the followed processes whether their children will be followed (struct qz_clock_page, crowded). */
void qzi_newcomers_say(int crowded);

#endif
