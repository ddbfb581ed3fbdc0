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
  int socket, session;         /* socket -1: closed */
  struct qzi_clock_page clock; /* the page that it was welcomed with */
  uint64_t begun_ns, due_ns;   /* when it said hello; when it is looked at next */
  uint64_t used_ns;            /* processor time of the process by then */
  int forked;                  /* struct qzi_target */
  int passed;                  /* it has said that it ends */
};

/* Welcomes one (its times need not be known), whose connection becomes the list's. -1: there is no room, or it cannot
 * be reached; then it stays the caller's. */
int qzi_newcomer_welcome(const struct qzi_newcomer *who);
/* It runs another program now (exec), or is not to be recorded after all. */
void qzi_newcomer_forget(pid_t pid);
/* No more of them are recorded. */
void qzi_newcomers_forget(void);
/* One descriptor of each to poll for, in `polls`; their number. */
unsigned qzi_newcomers_poll(struct pollfd *polls);
/* What became of them: `polls` as filled in before, after poll. */
void qzi_newcomers_attend(const struct pollfd *polls, unsigned count);
/* One that is to be recorded now, which leaves the list: what it holds is the caller's. 0: there is none. */
int qzi_newcomer_grown(struct qzi_newcomer *grown);
/* Milliseconds until one has to be looked at; -1: there is none. */
int qzi_newcomers_due_ms(void);
/* Says to those that are followed whether what they start will be (struct qz_clock_page, crowded). */
void qzi_newcomers_say(int crowded);

#endif
