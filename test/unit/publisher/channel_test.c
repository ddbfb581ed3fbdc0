/* A small sampler against real programs: launched, attached, detached, attached again; exact counts; no copy of a
 * profile stack that is not marked as torn may hold anything but a path of the program.
 *
 * Owns:    a listening socket, the programs it starts. Writer, reader: itself.
 * Must not: share code with the channel of the program or of the sampler.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "abi/channel.h"
#include "abi/session_read.h"
#include "channel_hooked.h"

static int failures;
static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  failures++;
}
static _Noreturn void give_up(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
enum { LIMIT_MS = 200000 }; /* ends a test that hangs */
static void pause_ms(int milliseconds) { poll(NULL, 0, milliseconds); }

static socklen_t address_of(struct sockaddr_un *address, const char *name) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path + 1, name, strlen(name));
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}
static void send_message(int fd, uint32_t type) {
  struct qz_message message = {QZ_CHANNEL_MAGIC, QZ_CHANNEL_VERSION, type, (uint32_t)getpid(), {0}};
  if (send(fd, &message, sizeof message, MSG_NOSIGNAL) != (ssize_t)sizeof message) fail("send: %s", strerror(errno));
}
/* Type of the next message, and the descriptor that came with it or -1. */
static uint32_t hear(int fd, int *passed) {
  struct qz_message message;
  struct iovec part = {&message, sizeof message};
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  *passed = -1;
  if (poll(&wait, 1, 30000) != 1) give_up("no message within 30 s");
  ssize_t bytes = recvmsg(fd, &head, MSG_CMSG_CLOEXEC);
  if (bytes != (ssize_t)sizeof message || message.magic != QZ_CHANNEL_MAGIC) return 0;
  struct cmsghdr *rights = CMSG_FIRSTHDR(&head);
  if (rights && rights->cmsg_type == SCM_RIGHTS) memcpy(passed, CMSG_DATA(rights), sizeof *passed);
  return message.type;
}

/* Starts this program again as `mode`, reading from *input. */
static pid_t start(const char *mode, const char *session, int *input) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) give_up("pipe");
  pid_t pid = fork();
  if (pid < 0) give_up("fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing is left behind when this test fails */
    dup2(ends[0], STDIN_FILENO);
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    unsetenv("QUARTZ_ATTACH");
    if (session)
      setenv(QZ_CHANNEL_ENV, session, 1);
    else
      unsetenv(QZ_CHANNEL_ENV);
    execl("/proc/self/exe", "channel_test", mode, (char *)NULL);
    _exit(127);
  }
  close(ends[0]);
  *input = ends[1];
  return pid;
}
static void expect_exit(pid_t pid, const char *mode) {
  int status;
  if (waitpid(pid, &status, 0) != pid || status) fail("%s: the program ended with status %#x", mode, status);
}

static uint64_t calls_to(const struct qz_session_view *view, uint64_t key, unsigned kind) {
  uint64_t sum = 0;
  const struct qz_call *calls;
  for (uint32_t table = 0; (calls = qz_session_calls(view, table)); table++)
    for (uint32_t k = 0; k < view->call_slots; k++)
      if (calls[k].site &&
          (key ? calls[k].key == key : calls[k].key & QZ_KEY_OBJECT && QZ_KEY_KIND(calls[k].key) == kind))
        sum += calls[k].count;
  return sum;
}
static uint64_t address(void *function) { return (uint64_t)(uintptr_t)function; }

/* ---- launched ---- */

static int listen_as(char *name, size_t bytes) {
  struct sockaddr_un at;
  snprintf(name, bytes, "quartz-test-%ld", (long)getpid());
  int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&at, address_of(&at, name)) || listen(listener, 8))
    give_up(name);
  return listener;
}
/* The next program that connects; connections that end before they say hello are ignored. */
static int welcome(int listener, struct qz_session_view *view, int *session) {
  for (;;) {
    int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (socket < 0) give_up("accept");
    if (hear(socket, session) == QZ_HELLO && *session >= 0) {
      const char *why;
      if (qz_session_open(view, *session, &why)) {
        fail("launched: %s", why);
        exit(1);
      }
      send_message(socket, QZ_WELCOME);
      return socket;
    }
    close(socket);
  }
}

/* qz_init after the launch continues in the same session, in which everything is counted. */
static void resized(void) {
  char name[64];
  int input, session, listener = listen_as(name, sizeof name);
  pid_t pid = start("resized", name, &input);
  struct qz_session_view view;
  int socket = welcome(listener, &view, &session);
  expect_exit(pid, "resized");
  if (poll(&(struct pollfd){.fd = listener, .events = POLLIN}, 1, 0)) fail("resized: a second session");
  view.processors = qz_session_head(&view)->processors;
  if (view.processors != RESIZED) fail("resized: %u processors", view.processors);
  if (calls_to(&view, address(path_addresses[3]), 0) != LOCKERS * LOCKS)
    fail("resized: %lu calls of path_d", (unsigned long)calls_to(&view, address(path_addresses[3]), 0));
  qz_session_close(&view);
  close(session), close(socket), close(listener), close(input);
}

/* A program waits for its sampler to be ready, but not for one that dies. */
static void sampler_dies(void) {
  char name[64];
  int input, session, listener = listen_as(name, sizeof name);
  pid_t pid = start("counts", name, &input);
  int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (socket < 0 || hear(socket, &session) != QZ_HELLO || session < 0) give_up("hello");
  close(session), close(socket), close(listener);
  expect_exit(pid, "the sampler dies");
  close(input);
}

/* QUARTZ_CHILDREN=1: a forked child has a session of its own. */
static void children(void) {
  char name[64];
  int input, session[2], socket[2], listener = listen_as(name, sizeof name);
  struct qz_session_view view[2];
  setenv("QUARTZ_CHILDREN", "1", 1);
  pid_t pid = start("forks", name, &input);
  unsetenv("QUARTZ_CHILDREN");
  for (int k = 0; k < 2; k++) socket[k] = welcome(listener, &view[k], &session[k]);
  int child = view[0].pid == (uint32_t)pid; /* the two may come in any order */
  if (view[!child].pid != (uint32_t)pid || view[child].pid == (uint32_t)pid)
    fail("children: pids %u, %u", view[0].pid, view[1].pid);
  if (write(input, "x", 1) != 1) give_up("write");
  expect_exit(pid, "children");
  for (int k = 0; k < 2; k++) {
    unsigned long calls = (unsigned long)calls_to(&view[k], address(path_addresses[0]), 0);
    if (calls != (k == child ? 1000 : 0))
      fail("children: %lu calls of path_a by the %s", calls, k == child ? "child" : "parent");
    qz_session_close(&view[k]);
    close(session[k]), close(socket[k]);
  }
  close(listener), close(input);
}

static void launched(void) {
  char name[64];
  int input, session, listener = listen_as(name, sizeof name);
  pid_t pid = start("counts", name, &input);
  struct qz_session_view view;
  int socket = welcome(listener, &view, &session);
  expect_exit(pid, "launched");
  const struct qz_session *head = qz_session_head(&view);
  if (view.pid != (uint32_t)pid) fail("launched: pid %u", view.pid);
  if (head->publishing || head->epoch != 1)
    fail("launched, at its end: publishing %u, epoch %u", head->publishing, head->epoch);
  /* Addresses are the same there, because it is the same program, and it is not position independent. */
  if (calls_to(&view, address(path_addresses[3]), 0) != LOCKERS * LOCKS)
    fail("launched: %lu calls of path_d", (unsigned long)calls_to(&view, address(path_addresses[3]), 0));
  if (calls_to(&view, address(path_addresses[0]), 0)) fail("launched: calls of a forked child were counted");
  if (calls_to(&view, 0, QZ_KIND_MUTEX) != LOCKERS * LOCKS)
    fail("launched: %lu accesses of the mutex", (unsigned long)calls_to(&view, 0, QZ_KIND_MUTEX));
  if (calls_to(&view, address(locker_address), 0) < LOCKERS) fail("launched: spawns were not counted");
  uint32_t mutexes = 0;
  for (uint32_t k = 1; k < qz_session_object_high(&view); k++) {
    const struct qz_object *object = qz_session_object(&view, k);
    char text[64];
    if (object->kind != QZ_KIND_MUTEX) continue;
    mutexes++;
    qz_session_string(&view, object->name, text, sizeof text);
    if (strcmp(text, "counted")) fail("launched: the mutex is called \"%s\"", text);
    if (object->acquisitions != LOCKERS * LOCKS)
      fail("launched: %lu acquisitions", (unsigned long)object->acquisitions);
    if (object->owner || object->queue) fail("launched: owner %u, queue %u at the end", object->owner, object->queue);
    uint64_t waits = 0;
    for (int bucket = 0; bucket < QZ_TIME_BUCKETS; bucket++) waits += object->wait_hist[bucket];
    if (waits != object->contended)
      fail("launched: %lu waits of %lu", (unsigned long)waits, (unsigned long)object->contended);
    if (object->wait_max_ns > object->wait_ns || object->spin_ns > object->wait_ns) fail("launched: times of waiting");
  }
  if (mutexes != 1) fail("launched: %u mutexes", mutexes);
  uint32_t alive = 0;
  for (uint32_t k = 0; k < qz_session_thread_high(&view); k++) alive += qz_session_thread(&view, k)->serial != 0;
  if (alive != 1) fail("launched: %u threads at the end, where only main is left", alive);
  uint64_t enqueued = 0, dequeued = 0, spawns = 0;
  for (uint32_t k = 0; k < view.processors; k++) {
    const struct qz_processor *processor = qz_session_processor(&view, k);
    enqueued += processor->enqueued, dequeued += processor->dequeued, spawns += processor->spawns;
  }
  if (enqueued != dequeued || spawns != LOCKERS)
    fail("launched: enqueued %lu, dequeued %lu, spawns %lu", (unsigned long)enqueued, (unsigned long)dequeued,
         (unsigned long)spawns);
  if (!view.hook.most_ps || view.hook.least_ps > view.hook.most_ps || !view.lock.most_ps ||
      view.lock.least_ps > view.lock.most_ps || !view.spawn_ps || view.hook_inside_ps > view.hook.most_ps)
    fail("launched: calibration");
  qz_session_close(&view);
  close(session);
  close(socket);
  close(listener);
  close(input);
}

/* ---- attached ---- */

static int attach(pid_t pid, struct qz_session_view *view) {
  char name[64];
  struct sockaddr_un at;
  int session;
  snprintf(name, sizeof name, QZ_CHANNEL_PROGRAM, (long)pid);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  for (uint64_t end = now_ms() + LIMIT_MS; connect(fd, (struct sockaddr *)&at, address_of(&at, name)); pause_ms(2))
    if (now_ms() > end) give_up("the program does not listen");
  send_message(fd, QZ_ATTACH);
  uint32_t type = hear(fd, &session);
  if (type != QZ_HELLO || session < 0) {
    close(fd);
    return type == QZ_REFUSED ? -2 : -1;
  }
  const char *why;
  if (qz_session_open(view, session, &why)) {
    fail("attached: %s", why);
    exit(1);
  }
  close(session);
  return fd;
}

/* Whether the keys from the first path function on are a path of channel_hooked.c: a, a b, a b c, a b c d, a b d, a c,
 * a c d. */
static int is_path(const uint64_t *keys, uint32_t depth) {
  static const char *const paths[] = {"", "a", "ab", "abc", "abcd", "abd", "ac", "acd"};
  char text[8] = "";
  for (uint32_t k = 0; k < depth && k < 7; k++) {
    int which = 0;
    while (which < 4 && keys[k] != address(path_addresses[which])) which++;
    if (which == 4) return 0;
    text[k] = (char)('a' + which), text[k + 1] = 0;
  }
  for (unsigned k = 0; k < sizeof paths / sizeof *paths; k++)
    if (!strcmp(text, paths[k]) && depth == strlen(text)) return 1;
  return 0;
}

/* Observes main of the program until enough complete copies with a part of the path on them were seen. */
static void watch(const struct qz_session_view *view, uint32_t epoch, const char *when) {
  uint64_t keys[4096], end = now_ms() + LIMIT_MS;
  uint32_t good = 0, seen[4] = {0};
  while (good < 20000 || !seen[0] || !seen[3]) {
    if (now_ms() > end) {
      fail("%s: only %u copies within 30 s", when, good);
      return;
    }
    for (uint32_t k = 0; k < qz_session_thread_high(view); k++) {
      const struct qz_thread *thread = qz_session_thread(view, k);
      if (!__atomic_load_n(&thread->serial, __ATOMIC_ACQUIRE) || thread->epoch != epoch) continue;
      struct qz_stack_copy copy;
      if (!qz_session_copy_stack(view, thread, keys, 0, &copy) || copy.invalid) continue;
      /* Below the path: the start routine, and the procedures entered since the launch. */
      uint32_t first = 0;
      while (first < copy.depth && keys[first] != address(path_addresses[0]) &&
             keys[first] != address(path_addresses[1]) && keys[first] != address(path_addresses[2]) &&
             keys[first] != address(path_addresses[3]))
        first++;
      /* Attached within path_a: until it returns, its callees are on the stack without it. Before the first of them,
       * and after the last, there are copies without any path; copies with it show a path_a that was entered since. */
      if (first < copy.depth && keys[first] != address(path_addresses[0]) && !seen[0]) continue;
      if (!is_path(keys + first, copy.depth - first)) {
        fail("%s: a copy of depth %u that is no path", when, copy.depth);
        for (uint32_t j = 0; j < copy.depth; j++) fprintf(stderr, "  %#lx\n", (unsigned long)keys[j]);
        return;
      }
      for (uint32_t j = first; j < copy.depth; j++)
        for (int which = 0; which < 4; which++) seen[which] += keys[j] == address(path_addresses[which]);
      good++;
    }
  }
}

static void attached(void) {
  int input;
  pid_t pid = start("paths", NULL, &input);
  struct qz_session_view view, again;
  int socket = attach(pid, &view);
  if (socket < 0) give_up("attach");
  const struct qz_session *head = qz_session_head(&view);
  if (head->epoch != 1) fail("attached: epoch %u", head->epoch);
  watch(&view, 1, "attached");
  if (attach(pid, &again) != -2) fail("attached: a second sampler was not refused");

  /* The connection ends: publishing ends, also for a thread that never calls the package. */
  close(socket);
  for (uint64_t end = now_ms() + LIMIT_MS; __atomic_load_n(&head->publishing, __ATOMIC_ACQUIRE); pause_ms(1))
    if (now_ms() > end) give_up("publishing did not end");
  uint64_t before, after = calls_to(&view, address(path_addresses[0]), 0);
  uint64_t end = now_ms() + LIMIT_MS;
  do { /* the hooks notice after the flag; then nothing is counted any more */
    before = after;
    pause_ms(100);
    after = calls_to(&view, address(path_addresses[0]), 0);
    if (now_ms() > end) give_up("hooks did not stop");
  } while (after != before);

  socket = attach(pid, &again);
  if (socket < 0) give_up("attach again");
  if (qz_session_head(&again)->epoch != 2) fail("attached again: epoch %u", qz_session_head(&again)->epoch);
  watch(&again, 2, "attached again");
  send_message(socket, QZ_DETACH);
  for (end = now_ms() + LIMIT_MS; __atomic_load_n(&qz_session_head(&again)->publishing, __ATOMIC_ACQUIRE); pause_ms(1))
    if (now_ms() > end) give_up("publishing did not end after detach");
  if (write(input, "x", 1) != 1) give_up("write");
  expect_exit(pid, "attached");
  close(socket);
  close(input);
}

int main(int count, char **arguments) {
  if (count > 1 && !strcmp(arguments[1], "counts")) return run_counts();
  if (count > 1 && !strcmp(arguments[1], "paths")) return run_paths(STDIN_FILENO);
  if (count > 1 && !strcmp(arguments[1], "resized")) return run_resized();
  if (count > 1 && !strcmp(arguments[1], "forks")) return run_forks(STDIN_FILENO);
  setenv("QUARTZ_ATTACH", "0",
         1); /* this program is linked with the package, too: its forked children must not listen before exec */
  launched();
  resized();
  sampler_dies();
  children();
  attached();
  return failures != 0;
}
