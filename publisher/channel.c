/* The program's side of the channel (abi/channel.h).
 *
 * Owns:    the sockets, and the kernel thread that sleeps on them.
 * Writer and reader: main during initialization, then that kernel thread, under `lock`.
 * Must not: let the program fail: after any error it continues without publishing. Rely on a descriptor: the program
 * may have closed it, and its number may now refer to another file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi/message.h"
#include "private.h"
#include "publisher.h"
#include "uncancelled.h"

#define REQUEST_MS 2000  /* how long to wait for the request of a sampler that has connected */
#define WELCOME_MS 20000 /* how long to wait for the sampler that launched the program; long, for a loaded machine */
#define FOLLOW_MS  2000  /* the same for a program whose profile was not requested by the user */

/* A descriptor, with the identity of its file when it was made. */
struct file {
  int fd; /* -1: none */
  dev_t device;
  ino_t inode;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file listening = {.fd = -1}, connection = {.fd = -1}, wake = {.fd = -1};
static bool serving; /* the kernel thread exists */

static struct file own(int fd) {
  struct file file = {.fd = fd};
  int high = fd < 0 ? -1
                    : fcntl(fd, F_DUPFD_CLOEXEC,
                            512); /* do not occupy the low numbers, which the program may expect to be free */
  if (high >= 0) {
    close(fd);
    file.fd = high;
  }
  struct stat state;
  if (file.fd >= 0 && !fstat(file.fd, &state)) {
    file.device = state.st_dev;
    file.inode = state.st_ino;
  }
  return file;
}
static bool valid(const struct file *file) {
  struct stat state;
  return file->fd >= 0 && !qzi_no_system_calls && !fstat(file->fd, &state) && state.st_dev == file->device &&
         state.st_ino == file->inode;
}
static void drop(struct file *file) {
  if (valid(file)) close(file->fd);
  file->fd = -1;
}

/* A system call filter may refuse geteuid; then the initial user from the auxiliary vector is used. */
static uid_t own_user(void) {
  uid_t user = geteuid();
  return user == (uid_t)-1 ? (uid_t)getauxval(AT_EUID) : user;
}

static bool trusted(int fd, pid_t *pid) {
  struct ucred peer;
  socklen_t bytes = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes)) return false;
  *pid = peer.pid;
  return peer.uid == own_user() || peer.uid == 0;
}

/* Waits for a message and returns its type; 0: the peer closed the connection, the time elapsed, or the message is
 * invalid (then *message may have a text). */
static uint32_t await_message(int fd, int milliseconds, struct qz_message *message) {
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  uint64_t end = qzi_pub_clock_ns() + (uint64_t)milliseconds * 1000000;
  for (;;) {
    int ready = poll(&wait, 1, milliseconds);
    if (ready == 1) break;
    if (!ready || errno != EINTR || qzi_pub_clock_ns() > end) return 0;
  }
  int page;
  if (qz_message_receive(fd, message, &page)) return 0;
  if (page >= 0) {
    qzi_path_clock_map(page);
    close(page);
  }
  if (message->version == QZ_CHANNEL_VERSION) return message->type;
  qz_message_send(fd, QZ_REFUSED, "another version of Quartz", -1);
  return 0;
}

static bool session_ready(char *why, size_t bytes) {
  if (qzi_session.fd >= 0) {
    if (qzi_session_fd_valid()) return true;
    snprintf(why, bytes, "the program closed the descriptor of its session");
    return false;
  }
  int error = qzi_session_make();
  if (!error) return true;
  snprintf(why, bytes, "the program cannot create its session: %s",
           error == EFBIG    ? "it needs more than ulimit -f allows"
           : error == ENOMEM ? "it needs more address space than it may have (ulimit -v)"
                             : strerror(error));
  return false;
}

/* ---- attached: a sampler connects to the running program ---- */

/* A sampler has connected to the listening socket. */
static void admit(void) {
  struct file peer = own(accept4(listening.fd, NULL, NULL, SOCK_CLOEXEC));
  struct qz_message message;
  char why[112];
  pid_t pid;
  if (peer.fd < 0) return;
  if (!trusted(peer.fd, &pid)) {
    qz_message_send(peer.fd, QZ_REFUSED, "the program belongs to another user", -1);
  } else if (await_message(peer.fd, REQUEST_MS, &message) ==
             QZ_ATTACH) { /* receive the request first: closing a socket with unread data would discard the answer */
    if (connection.fd >= 0) {
      qz_message_send(peer.fd, QZ_REFUSED, "the program is being sampled already", -1);
    } else if (!session_ready(why, sizeof why)) {
      qz_message_send(peer.fd, QZ_REFUSED, why, -1);
    } else {
      qzi_session_on();
      if (!qz_message_send(peer.fd, QZ_HELLO, NULL, qzi_session.fd)) {
        connection = peer;
        return;
      }
      qzi_session_off();
    }
  }
  drop(&peer);
}

/* The connected sampler has sent a message or closed the connection. */
static void attend_connection(void) {
  struct qz_message message;
  if (valid(&connection) && await_message(connection.fd, 0, &message) && message.type != QZ_DETACH) return;
  qzi_session_off();
  drop(&connection);
}

/* Without the lock: it answers the sampler. */
static void sample(void) {
  if (qzi_publishing() && qzi_path_clock->wants & QZ_WANTS_SAMPLES) qzi_publishers_sample();
}

static void *serve(void *unused) {
  pthread_setname_np(pthread_self(), "quartz-channel");
  for (;;) {
    pthread_mutex_lock(&lock);
    struct pollfd wait[3] = {{.fd = listening.fd, .events = POLLIN},
                             {.fd = connection.fd, .events = POLLIN},
                             {.fd = wake.fd, .events = POLLIN}};
    pthread_mutex_unlock(&lock);
    if (poll(wait, 3, -1) < 0 && errno != EINTR && errno != EAGAIN) return NULL;
    uint64_t count;
    pthread_mutex_lock(&lock);
    if (wait[2].revents) {
      if (!valid(&wake))
        wake.fd = -1;
      else if (read(wake.fd, &count, sizeof count) < 0)
        poll(NULL, 0, 1);
    }
    if (connection.fd >= 0 && wait[1].fd == connection.fd && wait[1].revents) attend_connection();
    if (listening.fd >= 0 && wait[0].fd == listening.fd && wait[0].revents) {
      if (valid(&listening) && !(wait[0].revents & (POLLNVAL | POLLERR)))
        admit();
      else
        listening.fd = -1;
    }
    pthread_mutex_unlock(&lock);
    sample();
  }
}

/* If the host has no kernel thread for the channel (qzi_publishers_own_thread), only on request. */
static void listen_for_samplers(void) {
  const char *setting = getenv("QUARTZ_ATTACH");
  if (setting ? !strcmp(setting, "0") : !qzi_publishers_own_thread) return;
  struct sockaddr_un address;
  char name[64];
  snprintf(name, sizeof name, QZ_CHANNEL_PROGRAM, (long)getpid());
  socklen_t bytes = qz_channel_address(&address, name);
  listening = own(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listening.fd >= 0 && (bind(listening.fd, (struct sockaddr *)&address, bytes) || listen(listening.fd, 4)))
    drop(&listening);
}

static void start_serving(void) {
  if (serving) {
    uint64_t one = 1;
    ssize_t written = valid(&wake) ? write(wake.fd, &one, sizeof one) : 0;
    (void)written;
    return;
  }
  if (listening.fd < 0 && (connection.fd < 0 || !qzi_publishers_own_thread)) return;
  wake = own(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  pthread_t thread;
  serving = !pthread_create(&thread, &attributes, serve, NULL);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!serving) drop(&listening);
}

/* ---- launched: the program connects to the sampler that started it ---- */

/* The time that the kernel takes after the program's end is not part of the run: kernel threads may take long to
 * exit when CPUs are scarce. So the session is marked as ended here; hooks of threads that may still run are not
 * switched off. */
__attribute__((destructor)) static void end(void) {
  struct qzi_publisher *publisher;
  if (qzi_publishing() && qzi_sched_current(&publisher)) {
    qzi_pub_write_joins(publisher);
    qzi_path_ended(publisher);
  }
  if (!qzi_session.head) return;
  if (qzi_publishing()) qzi_session_usage_end();
  __atomic_store_n(&qzi_session.head->publishing, 0, __ATOMIC_RELEASE);
}

static bool has_value(const char *setting, const char *value) { return setting && !strcmp(setting, value); }

/* Sends the session to the sampler that launched this program, and waits until it samples, so that it observes the
 * program from its first instruction on. If the sampler dies, the closed connection ends the wait; if it hangs, the
 * time-out does. Returns whether the program is being sampled.
 */
static bool hand_over(struct file *sampler, bool followed, bool forked) {
  struct qz_message message = {0};
  if (qz_message_send(sampler->fd, QZ_HELLO, forked ? QZ_HELLO_FORKED : NULL, qzi_session.fd)) return false;
  if (await_message(sampler->fd, followed ? FOLLOW_MS : WELCOME_MS, &message) == QZ_WELCOME) return true;
  if (message.type == QZ_REFUSED && *message.text)
    qzi_pub_complain("the sampler refused: %s; the program runs unsampled", message.text);
  if (message.type != QZ_REFUSED && !forked) qzi_pub_complain("no answer from the sampler; the program runs unsampled");
  return false;
}

/* Connects to the launching sampler and publishes; from now on everything is counted. qz_init() may change the
 * number of processors later. `follower`: a sampler that follows this process without an environment variable that
 * says so; or NULL. */
static void join_launcher(const char *follower) {
  const char *name = follower ? follower : secure_getenv(QZ_CHANNEL_ENV),
             *children = follower ? QZ_CHILDREN_FOLLOWED : getenv(QZ_CHILDREN_ENV);
  if (!name || !*name) return;
  struct sockaddr_un address;
  socklen_t bytes = qz_channel_address(&address, name);
  struct file peer = own(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  int failed = peer.fd < 0;
  while (!failed && connect(peer.fd, (struct sockaddr *)&address, bytes)) failed = errno != EINTR;
  if (failed) {
    /* Where nobody listens the sampler has ended: this process is a late descendant. Of what is forbidden to the
     * process the sampler says so. */
    int lacks = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS || errno == EAGAIN;
    if (lacks && !follower)
      qzi_pub_complain("the sampler cannot be reached (%s); the program runs unsampled", strerror(errno));
    drop(&peer);
    return;
  }
  pid_t pid = 0;
  char why[112];
  if (!trusted(peer.fd, &pid)) {
    if (pid) qzi_pub_complain("the sampler named by %s belongs to another user; unset it", QZ_CHANNEL_ENV);
  } else if (pid != getppid() && !has_value(children, QZ_CHILDREN_ALL) && !has_value(children, QZ_CHILDREN_FOLLOW) &&
             !has_value(children, QZ_CHILDREN_FOLLOWED)) {
    /* a child of the launched program, whose profile was not requested */
  } else if (!session_ready(why, sizeof why)) {
    qz_message_send(peer.fd, QZ_REFUSED, why, -1);
    if (!follower)
      qzi_pub_complain("%s; the program runs unsampled",
                       why); /* if it is only followed, its profile was not requested */
  } else {
    qzi_session_on();
    if (hand_over(&peer, has_value(children, QZ_CHILDREN_FOLLOWED), follower != NULL)) {
      connection = peer;
      qzi_session_span(); /* the sampler's answer says whether work and span are recorded */
      return;
    }
    qzi_session_off();
  }
  drop(&peer);
}

/* A program of the thread package is not a wrapper, so the programs that it starts are not followed. (The pthread
 * layer removes all the variables, and decides for each program that is started.) */
static void forget_following(void) {
  const char *children = getenv(QZ_CHILDREN_ENV);
  if (qzi_publishers_kind == QZ_PUBLISHER_PTHREAD || !children || has_value(children, QZ_CHILDREN_ALL)) return;
  unsetenv(QZ_CHILDREN_ENV);
  unsetenv(QZ_CHANNEL_ENV);
}

void qzi_channel_start(const char *follower) {
  bool again = serving;
  pthread_mutex_lock(&lock);
  join_launcher(follower);
  forget_following();
  if (!again) listen_for_samplers();
  pthread_mutex_unlock(&lock);
  sample();
  start_serving();
}

void qzi_channel_look(void) {
  if (serving || qzi_no_system_calls || pthread_mutex_trylock(&lock)) return;
  int error = errno, state = qzi_uncancelled();
  struct pollfd wait = {.fd = connection.fd, .events = POLLIN};
  if (connection.fd >= 0 && valid(&connection) && poll(&wait, 1, 0) > 0) attend_connection();
  errno = error;
  pthread_mutex_unlock(&lock);
  qzi_cancelled_again(state);
}

bool qzi_channel_pass(uint32_t type, int fd) {
  pthread_mutex_lock(&lock);
  bool passed = connection.fd >= 0 && valid(&connection) && !qz_message_send(connection.fd, type, NULL, fd);
  pthread_mutex_unlock(&lock);
  return passed;
}

/* Called before the session is made again. A sampler that has the old session loses it. */
void qzi_channel_stop(void) {
  pthread_mutex_lock(&lock);
  if (connection.fd >= 0) {
    qzi_session_off();
    drop(&connection);
  }
  pthread_mutex_unlock(&lock);
}

/* Runs in a forked child, which has no kernel thread for the channel and shares the parent's sockets. */
void qzi_channel_forked(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  serving = false;
  drop(&connection);
  drop(&listening);
  drop(&wake);
}
