/* Snapshots of programs whose threads are kernel threads (QZ_PUBLISHER_PTHREAD): every live thread record is visited,
 * and the kernel is asked which of those that call themselves useful are asleep. See snapshot.h.
 *
 * Owns:    open files of /proc/PID/task, what was seen of each thread last.
 * Writer and reader: the aggregating thread.
 * Must not: believe the kernel over a record that says what its thread waits for; add up to more than P processors.
 *
 * With n threads runnable and not spinning, and m spinning, b = min(n, P) and s = min(m, P - b). Each of the n is charged
 * b/n of the time as useful and the rest as ready, each of the m s/m as spinning and the rest as ready; what integers
 * leave over goes round, so that the shares of a snapshot sum exactly to b and s times its weight
 * (docs/metrics.md, sections 1 and 5).
 */
#include "kernel.h"
#include "cpu_time.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "follow.h"
#include "futexes.h"

#define LOAD(at)         __atomic_load_n((at), __ATOMIC_RELAXED)
#define LOAD_ACQUIRE(at) __atomic_load_n((at), __ATOMIC_ACQUIRE)
#define OPEN_MOST  256u /* files of /proc kept open */
#define TRIES_NS   UINT64_C(50000) /* who has run longer than this without a try does something else */
#define ASKED_MOST 128u /* threads of which the kernel is asked in one snapshot; of the others the last answer holds */

/* What is remembered of a thread record. */
struct memo {
  uint64_t serial;
  uint64_t tries;      /* as in the record, at the last snapshot */
  uint64_t spun_ns;    /* its processor time when it was seen to try in vain; 0: it was not */
  int fd, turns_fd;    /* its `stat` and `schedstat` + 1; 0: not open */
  uint32_t tid;        /* that they are of */
  uint8_t asleep;      /* last answer: enum answer */
  struct qzi_asleep call; /* that it sleeps in */
};
enum answer { AWAKE = 0, ASLEEP, ON_FUTEX, GONE };

/* A thread in the snapshot that is under way. */
struct seen {
  struct qzi_look look;
  uint32_t index, object, tuple, ready_tuple;
  uint8_t state;       /* enum qz_state; READY: runnable, counted with the useful ones */
  uint8_t outside;     /* its wait is known from the kernel alone: `object` is a futex */
};

struct qzi_kernel {
  struct memo *memos;
  size_t memos_bytes;
  struct seen *seen;
  struct qzi_follow *follow;
  uint32_t room, open, cursor;
  int tasks; /* /proc/PID/task, -1: not open */
};

struct qzi_kernel *qzi_kernel_open(struct qzi_sampler *sampler) {
  const struct qz_session_view *view = sampler->view;
  struct qzi_kernel *kernel = calloc(1, sizeof *kernel);
  if (!kernel) return NULL;
  kernel->memos_bytes = (size_t)view->thread_table.capacity * sizeof *kernel->memos;
  kernel->tasks = -1;
  kernel->memos = qzi_lazy_memory(kernel->memos_bytes);
  kernel->follow = qzi_follow_open(sampler);
  if (kernel->memos && kernel->follow) return kernel;
  qzi_follow_close(kernel->follow);
  qzi_lazy_free(kernel->memos, kernel->memos_bytes);
  free(kernel);
  return NULL;
}

static void shut_one(struct qzi_kernel *kernel, int *fd) {
  if (!*fd) return;
  close(*fd - 1);
  *fd = 0;
  kernel->open--;
}
static void shut(struct qzi_kernel *kernel, struct memo *memo) {
  shut_one(kernel, &memo->fd);
  shut_one(kernel, &memo->turns_fd);
}

void qzi_kernel_close(struct qzi_kernel *kernel) {
  if (!kernel) return;
  if (kernel->tasks >= 0) close(kernel->tasks);
  for (size_t k = 0; kernel->open && k < kernel->memos_bytes / sizeof *kernel->memos; k++) shut(kernel, &kernel->memos[k]);
  qzi_follow_close(kernel->follow);
  qzi_lazy_free(kernel->memos, kernel->memos_bytes);
  free(kernel->seen);
  free(kernel);
}

void qzi_kernel_prepare(struct qzi_kernel *kernel) { qzi_follow_prepare(kernel->follow); }

/* ---- asking the kernel ---- */

/* In which call a sleeping thread is. Needs the right to trace it; without, it is only asleep. */
static enum answer asleep_in(struct qzi_sampler *sampler, struct qzi_asleep *its, uint32_t tid) {
  char name[64], text[256];
  *its = (struct qzi_asleep){0};
  snprintf(name, sizeof name, "/proc/%u/task/%u/syscall", sampler->file->head->pid, tid);
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  ssize_t bytes = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
  if (bytes < 0 && errno != ESRCH && errno != ENOENT) sampler->file->head->paths |= QZ_PATHS_NO_CALLS;
  if (fd >= 0) close(fd);
  if (bytes <= 0) return ASLEEP;
  text[bytes] = 0;
  if (!strncmp(text, "running", 7)) return AWAKE;
  /* number, six arguments, stack pointer, instruction; or -1, stack pointer, instruction */
  uint64_t words[8];
  char *at;
  its->call = strtol(text, &at, 10);
  unsigned count = its->call < 0 ? 2 : 8;
  for (unsigned k = 0; k < count; k++) words[k] = strtoull(at, &at, 16);
  its->first = its->call < 0 ? 0 : words[0];
  its->sp = words[count - 2];
  its->pc = words[count - 1];
  its->known = 1;
  return its->call == SYS_futex ? ON_FUTEX : ASLEEP;
}

/* Reads a file of a thread, which is kept open while there is room. Its bytes, with a NUL behind; 0: it has ended;
 * -1: not to be seen from here. */
static ssize_t read_file(struct qzi_sampler *sampler, int *kept, uint32_t tid, const char *which, char *text, size_t room) {
  struct qzi_kernel *kernel = sampler->kernel;
  int fd = *kept - 1;
  if (fd < 0) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%u/task/%u/%s", sampler->file->head->pid, tid, which);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    if (kernel->open < OPEN_MOST) {
      *kept = fd + 1;
      kernel->open++;
    }
  }
  ssize_t bytes = pread(fd, text, room - 1, 0);
  if (!*kept) close(fd);
  text[bytes > 0 ? bytes : 0] = 0;
  return bytes > 0 ? bytes : 0;
}

/* How often the thread was given a CPU; 0: unknown. One that is as before has not run meanwhile. */
static uint64_t turns_of(struct qzi_sampler *sampler, struct memo *memo, uint32_t tid) {
  char text[96];
  const char *last = read_file(sampler, &memo->turns_fd, tid, "schedstat", text, sizeof text) > 0 ? strrchr(text, ' ') : NULL;
  return last ? strtoull(last, NULL, 10) : 0;
}

static enum answer ask(struct qzi_sampler *sampler, struct memo *memo, uint32_t tid) {
  char text[128];
  if (memo->tid != tid) shut(sampler->kernel, memo);
  memo->tid = tid;
  ssize_t bytes = read_file(sampler, &memo->fd, tid, "stat", text, sizeof text);
  if (bytes < 0) return AWAKE; /* its record is all there is */
  if (bytes == 0) {
    shut(sampler->kernel, memo);
    return GONE;
  }
  const char *end = strrchr(text, ')');
  char state = end && end[1] ? end[2] : 'R';
  if (state == 'Z' || state == 'X') return GONE;
  uint64_t turns = turns_of(sampler, memo, tid);
  int same = turns && memo->call.known && turns == memo->call.turns;
  memo->call.rested = same;
  if (state == 'R') return AWAKE;
  if (same) return memo->call.call == SYS_futex ? ON_FUTEX : ASLEEP;
  memo->call.known = 0;
  if (state != 'S' && state != 'D') return ASLEEP;
  enum answer answer = asleep_in(sampler, &memo->call, tid);
  memo->call.turns = turns;
  return answer;
}

/* ---- a snapshot ---- */

/* Processor time of the thread, 0: not known. */
static uint64_t run_ns_of(struct qzi_kernel *kernel, uint32_t pid, uint32_t tid) {
  char name[32];
  uint64_t run_ns, wait_ns;
  if (kernel->tasks < 0) {
    snprintf(name, sizeof name, "/proc/%u/task", pid);
    kernel->tasks = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  return kernel->tasks < 0 || qzi_cpu_time_of(kernel->tasks, tid, &run_ns, &wait_ns) ? 0 : run_ns;
}

/* The thread tried the same lock (or yielded, in the same loop), in vain, several times since the last snapshot, and nothing
 * else: it spins. It still does if it has had no CPU since it last was seen to. The object stands on its path, as if it had
 * been asked for. */
static uint32_t tries_for(struct qzi_kernel *kernel, struct memo *memo, uint32_t pid, uint32_t tid, uint64_t tries) {
  uint32_t object = (uint32_t)(tries >> 32);
  uint64_t before_ns = memo->spun_ns;
  if (!object || object != (uint32_t)(memo->tries >> 32)) {
    memo->spun_ns = 0;
    return 0;
  }
  int more = (uint32_t)tries > (uint32_t)memo->tries + 1;
  if (!more && !before_ns) return 0;
  uint64_t run_ns = run_ns_of(kernel, pid, tid);
  memo->spun_ns = more || run_ns - before_ns < TRIES_NS ? (run_ns ? run_ns : 1) : 0;
  return memo->spun_ns ? object : 0;
}

/* A name that was given after the thread was first seen. */
static void look_at_name(struct qzi_sampler *sampler, uint32_t index) {
  struct qzi_thread_memo *memo = &sampler->in.memos[index];
  uint32_t name = LOAD(&qz_session_thread(sampler->view, index)->name);
  if (!memo->entity || name == memo->name) return;
  memo->name = name;
  struct qz_entity *entity = &sampler->file->entities[memo->entity];
  if (entity->instances == 1 && entity->record == index) entity->name = qzi_intern_name(&sampler->in, name);
}

/* State of the thread `index`, or IDLE: none there. */
static void look(struct qzi_sampler *sampler, uint32_t index, int may_ask, uint64_t now_ns, struct seen *seen) {
  struct qzi_kernel *kernel = sampler->kernel;
  const struct qz_thread *thread = qz_session_thread(sampler->view, index);
  struct memo *memo = &kernel->memos[index];
  seen->state = QZ_STATE_IDLE;
  seen->index = index;
  qzi_thread_look(sampler, index, &seen->look);
  if (!seen->look.serial || !seen->look.entity) return;
  look_at_name(sampler, index);
  uint32_t tid = LOAD(&thread->os_tid);
  uint64_t tries = LOAD(&thread->tries);
  if (memo->serial != seen->look.serial) {
    memo->serial = seen->look.serial;
    memo->tries = memo->spun_ns = 0;
    memo->asleep = AWAKE;
    may_ask = 1;
  }
  unsigned state = QZ_STATE_OF(seen->look.state);
  seen->object = QZ_STATE_OBJECT(seen->look.state);
  if (state >= QZ_STATE_COUNT) {
    sampler->file->head->invalid++;
    return;
  }
  if (state == QZ_STATE_OVERHEAD) state = QZ_STATE_USEFUL;
  int published = state != QZ_STATE_USEFUL;
  if (state == QZ_STATE_USEFUL && tid) {
    if (may_ask) memo->asleep = (uint8_t)ask(sampler, memo, tid);
    if (memo->asleep == GONE) state = QZ_STATE_IDLE;
    if (memo->asleep == ASLEEP) state = QZ_STATE_IO;
    if (memo->asleep == ON_FUTEX) state = QZ_STATE_BLOCKED;
    uint32_t tried = state == QZ_STATE_USEFUL ? tries_for(kernel, memo, sampler->file->head->pid, tid, tries) : 0;
    if (tried) {
      state = QZ_STATE_SPINNING;
      seen->object = tried;
    }
  }
  memo->tries = tries;
  if (state != QZ_STATE_IDLE)
    qzi_follow(kernel->follow, index, &seen->look, state, published, &memo->call, &seen->object, now_ns);
  uint64_t loop = state == QZ_STATE_USEFUL ? qzi_follow_stalled(kernel->follow, index) : 0;
  if (loop && (seen->object = qzi_loop(&sampler->in, loop))) {
    seen->state = QZ_STATE_SPINNING;
    seen->outside = 1;
    seen->look.node = qzi_intern_child(&sampler->in, seen->look.node, QZ_KEY(QZ_KIND_FUTEX, seen->object));
    return;
  }
  const struct qz_object *object = state == QZ_STATE_SPINNING ? qz_session_object(sampler->view, seen->object) : NULL;
  if (object && !qzi_waits_at_top(sampler, seen->look.node, seen->object))
    seen->look.node = qzi_intern_child(&sampler->in, seen->look.node, QZ_KEY(LOAD(&object->kind), seen->object));
  seen->outside = !published && state == QZ_STATE_BLOCKED;
  seen->state = (uint8_t)state;
}

static int find_tuples(struct qzi_sampler *sampler, struct seen *seen, unsigned busy, unsigned spinning, uint32_t runnable,
                       int shared) {
  struct qzi_tuple_key key = {.stack = seen->look.node,
                              .thread = seen->look.entity,
                              .state = seen->state == QZ_STATE_READY ? QZ_STATE_USEFUL : seen->state,
                              .waiting = (uint8_t)qzi_waits_at_top(sampler, seen->look.node, seen->object),
                              .torn = (uint8_t)seen->look.torn,
                              .busy = (uint16_t)busy,
                              .spinning = (uint16_t)spinning,
                              .runnable = runnable};
  seen->tuple = qzi_tuple_find(&sampler->tuples, &key);
  if (!seen->tuple) return -1;
  seen->ready_tuple = 0;
  if (!shared) return 0;
  key.state = QZ_STATE_READY;
  seen->ready_tuple = qzi_tuple_find(&sampler->tuples, &key);
  return seen->ready_tuple ? 0 : -1;
}

/* The k-th of `count` shares of `all`, which sum to it. */
static uint64_t share(uint64_t all, uint32_t count, uint32_t k) {
  return (uint64_t)((unsigned __int128)all * (k + 1) / count - (unsigned __int128)all * k / count);
}

static void note_spinner(struct qzi_sampler *sampler, uint32_t object) {
  if (!object || object >= qz_session_object_high(sampler->view)) return;
  struct qzi_object_memo *memo = &sampler->objects[object];
  if (memo->round != sampler->round) memo->spinners = 0;
  memo->round = sampler->round;
  memo->spinners++;
}

int qzi_kernel_add(struct qzi_sampler *sampler, uint64_t now_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t high = qz_session_thread_high(sampler->view), count = 0, processors = sampler->view->processors;
  if (high > kernel->room) {
    uint32_t room = high + high / 2 + 16;
    struct seen *all = realloc(kernel->seen, room * sizeof *all);
    if (!all) return -1;
    kernel->seen = all;
    kernel->room = room;
  }
  sampler->round++;
  uint32_t useful = 0, spinners = 0, waiters = 0;
  for (uint32_t k = 0; k < high; k++) {
    uint32_t turn = k >= kernel->cursor ? k - kernel->cursor : k + high - kernel->cursor;
    struct seen *seen = &kernel->seen[count];
    if (LOAD_ACQUIRE(&qz_session_thread(sampler->view, k)->serial) == 0) {
      shut(kernel, &kernel->memos[k]);
      qzi_follow_gone(kernel->follow, k);
      continue;
    }
    qzi_thread_overflows(sampler, k);
    look(sampler, k, turn < ASKED_MOST, now_ns, seen);
    if (seen->state == QZ_STATE_IDLE) continue;
    useful += seen->state == QZ_STATE_USEFUL || seen->state == QZ_STATE_READY;
    spinners += seen->state == QZ_STATE_SPINNING;
    waiters += seen->object != 0;
    count++;
  }
  kernel->cursor = high > ASKED_MOST ? (kernel->cursor + ASKED_MOST) % high : 0;
  uint32_t busy = useful < processors ? useful : processors;
  uint32_t spinning = spinners < processors - busy ? spinners : processors - busy;
  struct qzi_counts counts = {.useful = busy, .spinning = spinning, .runnable = useful + spinners};
  for (uint32_t k = 0; k < count; k++) {
    struct seen *seen = &kernel->seen[k];
    int shared = seen->state == QZ_STATE_SPINNING ? spinning < spinners
                                                  : seen->state <= QZ_STATE_READY && busy < useful;
    if (find_tuples(sampler, seen, busy, spinning, counts.runnable, shared)) return -1;
  }
  uint64_t ns;
  if (qzi_snapshot_begin(sampler, now_ns, &counts, &ns)) return -1;
  qzi_holders_begin(sampler->holders);
  for (uint32_t k = 0; k < count && waiters; k++)
    qzi_holders_add(sampler, sampler->holders, kernel->seen[k].look.node, kernel->seen[k].look.entity,
                    kernel->seen[k].outside ? 0 : kernel->seen[k].object);
  uint32_t nth_useful = 0, nth_spinner = 0;
  for (uint32_t k = 0; k < count; k++) {
    struct seen *seen = &kernel->seen[k];
    uint64_t part = ns;
    if (seen->state == QZ_STATE_SPINNING) {
      part = share(spinning * ns, spinners, nth_spinner++);
      if (!seen->outside) note_spinner(sampler, seen->object);
    }
    if (seen->outside) {
      qzi_futex_wait(&sampler->in, seen->object);
    } else if (seen->state <= QZ_STATE_READY && seen->state != QZ_STATE_SPINNING) {
      part = share(busy * ns, useful, nth_useful++);
      qzi_timeline_top(&sampler->timeline, sampler->file->stacks[seen->look.node].entity, part);
    }
    if (part) qzi_tuple_add(&sampler->tuples, seen->tuple, counts.runnable, part);
    if (part < ns) qzi_tuple_add(&sampler->tuples, seen->ready_tuple, counts.runnable, ns - part);
    qzi_thread_seen(sampler, seen->index, ns);
  }
  /* CPUs are alike here: the k-th of them was busy while at least k were. */
  for (uint32_t p = 0; p < processors; p++) {
    struct qz_processor_stats *its = &sampler->file->processors[p];
    sampler->visits[p].state = QZ_STATE_IDLE;
    *(p < busy ? &its->useful_ns : p < busy + spinning ? &its->spinning_ns : &its->idle_ns) += ns;
  }
  /* Who ran, for those who ask later in this snapshot what happened meanwhile. */
  for (uint32_t k = 0, p = 0; k < count && p < busy; k++) {
    if (kernel->seen[k].state != QZ_STATE_USEFUL && kernel->seen[k].state != QZ_STATE_READY) continue;
    struct qzi_visit *visit = &sampler->visits[p++];
    visit->state = QZ_STATE_USEFUL;
    visit->node = kernel->seen[k].look.node;
    visit->entity = kernel->seen[k].look.entity;
  }
  sampler->file->head->visits += count;
  qzi_snapshot_end(sampler, now_ns, &counts, ns);
  qzi_futexes_add(sampler, ns);
  return 0;
}

void qzi_kernel_taken(struct qzi_sampler *sampler, uint64_t key, uint64_t site) {
  qzi_follow_taken(sampler->kernel->follow, key, site);
}

uint32_t qzi_kernel_node(const struct qzi_sampler *sampler, uint32_t index) {
  return qzi_follow_node(sampler->kernel->follow, index);
}
