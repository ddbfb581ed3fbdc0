/* A program that publishes a known state, for tests of launching and attaching: publisher WHAT [ARGUMENT].
 *
 * It joins its sampler as abi/channel.h says, publishes PUBLISHER_PROCESSORS (default 1), the first of which runs
 * `work` (0x2000), the others nothing, or with PUBLISHER_BUSY=1 each a thread of its own that does the same, and then:
 *   run MS STATUS    counts a call each 10 us for that long, exits with the status
 *   signal MS N      the same, then kills itself with that signal
 *   ignore MS STATUS the same as run, deaf to SIGINT and SIGTERM
 *   exec MS          runs, then replaces itself by `publisher run MS 7`
 *   leave MS STATUS  runs, then replaces itself by `sh -c "exit STATUS"`
 *   fork MS STATUS   forks a child that joins and runs, and runs itself
 *   corrupt MS WHAT  sends a session that is broken in one way: runs unpublished, exits with 0
 *   churn MS STATUS  pushes and pops as fast as it can, until the sampler leaves it, that long at the most
 *   listen MS STATUS waits for a sampler to attach, as a program that nobody launched
 */
#include "abi/note.h"
#include "test/support/fake_session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include "abi/channel.h"

QZ_NOTE; /* it publishes without a sampler */

static struct fake fake;
static int connection = -1;

static uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static socklen_t address_of(struct sockaddr_un *address, const char *name) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  strcpy(address->sun_path + 1, name);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static void say(int fd, uint32_t type, int descriptor) {
  struct qz_message message = {
    .magic = QZ_CHANNEL_MAGIC, .version = QZ_CHANNEL_VERSION, .type = type, .pid = (uint32_t)getpid()};
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec part = {&message, sizeof message};
  struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor >= 0) {
    head.msg_control = control.bytes;
    head.msg_controllen = sizeof control.bytes;
    struct cmsghdr *item = CMSG_FIRSTHDR(&head);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(item), &descriptor, sizeof descriptor);
  }
  CHECK(sendmsg(fd, &head, MSG_NOSIGNAL) == (ssize_t)sizeof message);
}

static uint32_t hear(int fd) {
  struct pollfd wait = {fd, POLLIN, 0};
  struct qz_message message;
  if (poll(&wait, 1, 20000) != 1 || recv(fd, &message, sizeof message, 0) != (ssize_t)sizeof message) return 0;
  return message.type;
}

static void make_session(void) {
  const char *processors = getenv("PUBLISHER_PROCESSORS");
  uint32_t count = processors ? (uint32_t)atoi(processors) : 1;
  fake = fake_make(count, count + 8, 8, 64);
  for (uint32_t p = 0; p < fake.head->processors; p++) fake_processor(&fake, p)->cpu = UINT32_MAX;
  fake_processor(&fake, 0)->os_tid = (uint32_t)getpid();
  fake_create(&fake, 0, 1, "main", 0x1000, -1);
  fake_push(&fake, 0, 0x1000);
  fake_push(&fake, 0, 0x2000);
  fake_run(&fake, 0, QZ_STATE_USEFUL, 0);
  for (uint32_t p = 1; getenv("PUBLISHER_BUSY") && p < count; p++) {
    fake_create(&fake, p, p + 1, "worker", 0x1000, 0);
    fake_push(&fake, p, 0x1000);
    fake_push(&fake, p, 0x2000);
    fake_run(&fake, p, QZ_STATE_USEFUL, (int)p);
  }
}

static int join(int session) {
  const char *name = getenv(QZ_CHANNEL_ENV);
  struct sockaddr_un address;
  CHECK(name);
  socklen_t bytes = address_of(&address, name);
  connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connect(connection, (struct sockaddr *)&address, bytes)) return 0;
  say(connection, QZ_HELLO, session);
  return hear(connection) == QZ_WELCOME;
}

static void wait_for_attach(void) {
  struct sockaddr_un address;
  char name[64];
  snprintf(name, sizeof name, QZ_CHANNEL_PROGRAM, (long)getpid());
  socklen_t bytes = address_of(&address, name);
  int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  CHECK(!bind(listener, (struct sockaddr *)&address, bytes) && !listen(listener, 1));
  printf("listening\n");
  fflush(stdout);
  connection = accept(listener, NULL, NULL);
  CHECK(connection >= 0 && hear(connection) == QZ_ATTACH);
  say(connection, QZ_HELLO, fake.fd);
}

static void run(uint64_t ms) {
  uint64_t end = clock_ns() + ms * 1000000;
  while (clock_ns() < end) {
    fake_call(&fake, 0, 0x1008, 0x2000, 1);
    nanosleep(&(struct timespec){0, 10000}, NULL);
  }
  fake_call(&fake, 0, 0x3008, 0x3000, 12345); /* the last thing that it does */
}

static int left_alone(void) {
  struct pollfd now = {connection, POLLIN, 0};
  return poll(&now, 1, 0) == 1;
}

static void churn(uint64_t ms) {
  uint64_t end = clock_ns() + ms * 1000000;
  for (uint64_t round = 1; clock_ns() < end && !left_alone(); round++)
    for (unsigned k = 0; k < 1000; k++) {
      for (uint64_t d = 0; d < 20; d++) fake_push(&fake, 0, 0x5000 + 16 * ((d * round + k) % 3001));
      for (uint64_t d = 0; d < 20; d++) fake_pop(&fake, 0);
    }
}

/* Each breaks one rule of the layout. */
static void corrupt(const char *what) {
  if (!strcmp(what, "magic")) fake.head->magic++;
  if (!strcmp(what, "version")) fake.head->version++;
  if (!strcmp(what, "processors")) fake.head->processors = UINT32_MAX;
  if (!strcmp(what, "table")) fake.head->thread_table.offset = UINT64_MAX - 63;
  if (!strcmp(what, "stride")) fake.head->object_table.stride = UINT64_C(1) << 63;
  if (!strcmp(what, "size")) fake.head->total_bytes *= 2;
  if (!strcmp(what, "stack")) fake.head->stack_limit = fake.head->short_limit = 4000;
  if (!strcmp(what, "short")) fake.head->short_limit++;
  if (!strcmp(what, "long")) fake.head->short_limit = 1, fake.head->long_table = fake.head->thread_table;
  if (!strcmp(what, "calls")) fake.head->call_slots = 1u << 31;
}

int main(int argc, char **argv) {
  CHECK(argc >= 4);
  const char *what = argv[1];
  uint64_t ms = strtoull(argv[2], NULL, 10);
  int number = atoi(argv[3]);
  make_session();
  if (!strcmp(what, "corrupt")) {
    int session = fake.fd;
    corrupt(argv[3]);
    if (!strcmp(argv[3], "unsealed")) {
      session = memfd_create("unsealed", MFD_CLOEXEC);
      CHECK(write(session, fake.base, fake.bytes) == (ssize_t)fake.bytes);
    }
    if (!strcmp(argv[3], "pipe")) {
      int ends[2];
      CHECK(!pipe(ends));
      session = ends[0];
    }
    CHECK(!join(session));
    return 0;
  }
  if (!strcmp(what, "ignore")) {
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
  }
  if (!strcmp(what, "listen"))
    wait_for_attach();
  else
    CHECK(join(fake.fd));
  if (!strcmp(what, "churn")) {
    churn(ms);
    return number;
  }
  pid_t child = 0;
  if (!strcmp(what, "fork")) {
    child = fork();
    if (child == 0) {
      make_session();
      number = join(fake.fd) ? 0 : 9;
    }
  }
  run(ms);
  if (!strcmp(what, "signal")) {
    kill(getpid(), number);
    pause();
  }
  if (!strcmp(what, "exec")) execl("/proc/self/exe", "publisher", "run", argv[2], "7", (char *)NULL);
  if (!strcmp(what, "leave")) {
    char text[32];
    snprintf(text, sizeof text, "sleep 0.2; exit %d", number);
    execl("/bin/sh", "sh", "-c", text, (char *)NULL);
  }
  if (child) waitpid(child, NULL, 0);
  return number;
}
