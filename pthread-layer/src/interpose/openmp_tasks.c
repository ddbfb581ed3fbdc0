/* Tasks of GCC's OpenMP: who makes one, who executes it, who waits for them. What a task is called with is copied by
 * the library; so what the layer needs of it is put in front of that.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: it, and who executes the task.
 * Must not: change which thread executes a task, in which order, or what it is called with; need more stack than twice
 *          what the compiler needs for it.
 */
#include <string.h>
#include "runtime_function.h"
#include "pthread-layer/src/state/task.h"
#include "pthread-layer/src/state/threads.h"

/* As in libgomp: what the compiler says of a task. */
enum flag { FINAL = 1 << 1, DEPEND = 1 << 3, IF = 1 << 10, NOGROUP = 1 << 11, DETACH = 1 << 13 };

/* The library writes to the first words of what a task is called with (the range of a loop's part; an event), and reads
 * there (reductions). */
#define WORDS 3u
struct data {
  uintptr_t words[WORDS];
  uint16_t changed; /* so many of them are the library's */
  bool is_part;     /* of a loop: one of several tasks that are made by one call */
  long offset;      /* of what the task is called with, from here; or that is still at `original` */
  void (*body)(void *);
  void (*copy)(void *, void *);
  void *original;
  struct qzl_task *task;
};
#define MOST_BYTES 65536 /* more than that is not copied once more */

static void *its_own(struct data *data) {
  char *own = (char *)data + data->offset;
  for (unsigned k = 0; k < data->changed; k++) memcpy(own + k * sizeof(uintptr_t), &data->words[k], sizeof(uintptr_t));
  return own;
}

static void execute(void *argument) {
  struct data *data = argument;
  void *own = its_own(data);
  struct qzl_thread *me = qzi_publishing() ? qzl_here() : qzl_self;
  struct qzl_task *task = data->task;
  if (data->is_part) task = me ? qzl_task_like(me, task) : NULL;
  if (me && task) qzl_task_begins(me, task);
  data->body(own);
  if (me && task)
    qzl_task_ends(me, task);
  else if (task)
    qzl_task_dropped(task);
}

/* For tasks whose data have constructors. An event is there before these are called. */
static void copy(void *to, void *from) {
  struct data *data = to;
  const struct data *source = from;
  *data = *source;
  if (!data->is_part && data->changed) memcpy(data->original, source->words, sizeof(uintptr_t));
  data->copy((char *)to + data->offset, data->original);
}

/* ---- depend clauses ---- */

struct depends {
  uint64_t addresses[QZL_DEPENDS];
  uint32_t writes, count;
};
static void depends_add(struct depends *all, const void *address, bool writes) {
  if (all->count == QZL_DEPENDS) return;
  all->writes |= (uint32_t)writes << all->count;
  all->addresses[all->count++] = (uint64_t)(uintptr_t)address;
}
/* Two forms of the array: count, count of those that are written, addresses; or 0, count, counts of those that are
 * written, written in any order, and read, addresses, and objects that hold an address and a kind (1: read). */
static void depends_of(void **array, struct depends *all) {
  all->writes = all->count = 0;
  bool is_old = array[0] != NULL;
  uintptr_t count = (uintptr_t)array[is_old ? 0 : 1];
  uintptr_t writes = (uintptr_t)array[is_old ? 1 : 2] + (is_old ? 0 : (uintptr_t)array[3]);
  uintptr_t plain = is_old ? count : writes + (uintptr_t)array[4];
  void **address = array + (is_old ? 2 : 5);
  for (uintptr_t k = 0; k < count; k++) {
    if (k < plain) {
      depends_add(all, address[k], k < writes);
    } else {
      void *const *object = address[k];
      depends_add(all, object[0], (uintptr_t)object[1] != 1);
    }
  }
}

/* ---- making tasks ---- */

struct made { /* by a call of the program */
  struct qzl_task *task;
  struct data data;
  long bytes, align, offset;
};

static struct qzl_thread *makes(struct made *made, struct qzl_runtime_function *function, uint64_t site,
                                void (*body)(void *), void *data, void (*copies)(void *, void *), unsigned flags,
                                bool included) {
  struct qzl_thread *me = qzi_publishing() && !function->llvm ? qzl_self : NULL;
  if (!me || !qzl_makes_tasks(me)) return NULL;
  if (!copies && made->bytes > MOST_BYTES) {
    qzl_task_unknown(me);
    return NULL;
  }
  made->task = qzl_task_made(me, (uint64_t)(uintptr_t)body, site,
                             (included ? QZL_TASK_INCLUDED : 0) | (flags & FINAL ? QZL_TASK_FINAL : 0));
  if (!made->task) return NULL;
  long align = made->align > 16 ? made->align : 16;
  made->offset = ((long)sizeof(struct data) + align - 1) & -align;
  made->data =
    (struct data){.body = body, .copy = copies, .original = data, .task = made->task, .offset = made->offset};
  made->align = align;
  return me;
}

/* What the library is given: the program's data behind the layer's, in `room`, or where constructors copy them, only
 * the layer's. */
static void *given(const struct made *made, char *room) {
  struct data *at = (struct data *)(void *)(((uintptr_t)room + (uintptr_t)made->align - 1) & -(uintptr_t)made->align);
  *at = made->data;
  if (made->data.copy || !made->data.original) return at;
  memcpy((char *)at + made->offset, made->data.original, (size_t)made->bytes);
  size_t words = (size_t)made->bytes / sizeof(uintptr_t);
  memcpy(at->words, made->data.original, (words < WORDS ? words : WORDS) * sizeof(uintptr_t));
  return at;
}
static size_t room_for(const struct made *made) {
  return (size_t)(made->offset + made->align + (made->data.copy ? 0 : made->bytes));
}

typedef void task_function(void (*)(void *), void *, void (*)(void *, void *), long, long, bool, unsigned, void **, int,
                           void *);
/* Older compilers pass fewer arguments: what then lies there is passed on, and looked at by nobody. */
QZL_EXPORT task_function GOMP_task;
void GOMP_task(void (*body)(void *), void *data, void (*copies)(void *, void *), long bytes, long align, bool deferred,
               unsigned flags, void **depend, int priority, void *detach) {
  static struct qzl_runtime_function function = {"GOMP_task", .own = (void *)GOMP_task};
  uint64_t site = QZL_SITE();
  task_function *real;
  *(void **)(void *)&real = qzl_runtime_real(&function, site);
  if (!real) return;
  struct made made = {.bytes = bytes, .align = align};
  if (!makes(&made, &function, site, body, data, copies, flags, !deferred)) {
    real(body, data, copies, bytes, align, deferred, flags, depend, priority, detach);
    return;
  }
  if (flags & DEPEND) {
    struct depends all;
    depends_of(depend, &all);
    for (uint32_t k = 0; k < all.count; k++) qzl_task_depends(made.task, all.addresses[k], all.writes & 1u << k);
  }
  made.data.changed = flags & DETACH && data ? 1 : 0;
  char room[room_for(&made)];
  real(execute, given(&made, room), copies ? copy : NULL, made.offset + bytes, made.align, deferred, flags, depend,
       priority, detach);
}

/* A loop that is divided into tasks; the thread that makes them waits for them, unless a flag forbids that. */
#define TASKLOOP(name, number)                                                                                         \
  QZL_EXPORT void name(void (*body)(void *), void *data, void (*copies)(void *, void *), long bytes, long align,       \
                       unsigned flags, unsigned long tasks, int priority, number start, number end, number step);      \
  void name(void (*body)(void *), void *data, void (*copies)(void *, void *), long bytes, long align, unsigned flags,  \
            unsigned long tasks, int priority, number start, number end, number step) {                                \
    static struct qzl_runtime_function function = {#name, .own = (void *)name};                                        \
    uint64_t site = QZL_SITE();                                                                                        \
    void (*real)(void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned, unsigned long, int, number, \
                 number, number);                                                                                      \
    *(void **)(void *)&real = qzl_runtime_real(&function, site);                                                       \
    if (!real) return;                                                                                                 \
    struct made made = {.bytes = bytes, .align = align};                                                               \
    struct qzl_thread *me = loop_begins(&made, &function, site, body, data, copies, flags);                            \
    if (!me) {                                                                                                         \
      real(body, data, copies, bytes, align, flags, tasks, priority, start, end, step);                                \
      return;                                                                                                          \
    }                                                                                                                  \
    char room[room_for(&made)];                                                                                        \
    real(execute, given(&made, room), copies ? copy : NULL, made.offset + bytes, made.align, flags, tasks, priority,   \
         start, end, step);                                                                                            \
    loop_ended(me, flags, site);                                                                                       \
  }
static struct qzl_thread *loop_begins(struct made *made, struct qzl_runtime_function *function, uint64_t site,
                                      void (*body)(void *), void *data, void (*copies)(void *, void *),
                                      unsigned flags) {
  struct qzl_thread *me = qzi_publishing() && !function->llvm ? qzl_self : NULL;
  if (!me || !qzl_makes_tasks(me)) return NULL;
  if (!(flags & NOGROUP)) qzl_tasks_grouped(me);
  if (!makes(made, function, site, body, data, copies, flags, !(flags & IF))) {
    if (!(flags & NOGROUP)) qzl_group_waited(me, site);
    return NULL;
  }
  made->data.is_part = true;
  made->data.changed = 2; /* the range */
  qzl_task_is_model(made->task);
  if (!(flags & NOGROUP)) qzl_tasks_wait(me);
  return me;
}
static void loop_ended(struct qzl_thread *me, unsigned flags, uint64_t site) {
  if (!(flags & NOGROUP)) qzl_group_waited(me, site);
}
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

/* ---- waiting for them ---- */

static struct qzl_thread *with_tasks(const struct qzl_runtime_function *function) {
  struct qzl_thread *me = qzl_self;
  return me && me->task && !function->llvm ? me : NULL;
}

QZL_EXPORT void GOMP_taskwait(void);
void GOMP_taskwait(void) {
  static struct qzl_runtime_function function = {"GOMP_taskwait", .own = (void *)GOMP_taskwait};
  uint64_t site = QZL_SITE();
  void (*real)(void);
  *(void **)(void *)&real = qzl_runtime_real(&function, site);
  struct qzl_thread *me = with_tasks(&function);
  if (me) qzl_tasks_wait(me);
  if (real) real();
  if (me) qzl_tasks_waited(me, site);
}

QZL_EXPORT void GOMP_taskwait_depend(void **depend);
void GOMP_taskwait_depend(void **depend) {
  static struct qzl_runtime_function function = {"GOMP_taskwait_depend", .own = (void *)GOMP_taskwait_depend};
  void (*real)(void **);
  *(void **)(void *)&real = qzl_runtime_real(&function, QZL_SITE());
  struct qzl_thread *me = with_tasks(&function);
  if (me) qzl_tasks_wait(me);
  if (real) real(depend);
  if (!me) return;
  struct depends all;
  depends_of(depend, &all);
  qzl_tasks_waited_at(me, all.addresses, all.writes, all.count);
}

QZL_EXPORT void GOMP_taskgroup_start(void);
void GOMP_taskgroup_start(void) {
  static struct qzl_runtime_function function = {"GOMP_taskgroup_start", .own = (void *)GOMP_taskgroup_start};
  void (*real)(void);
  *(void **)(void *)&real = qzl_runtime_real(&function, QZL_SITE());
  struct qzl_thread *me = qzi_publishing() && !function.llvm ? qzl_self : NULL;
  if (me && qzl_makes_tasks(me)) qzl_tasks_grouped(me);
  if (real) real();
}

QZL_EXPORT void GOMP_taskgroup_end(void);
void GOMP_taskgroup_end(void) {
  static struct qzl_runtime_function function = {"GOMP_taskgroup_end", .own = (void *)GOMP_taskgroup_end};
  uint64_t site = QZL_SITE();
  void (*real)(void);
  *(void **)(void *)&real = qzl_runtime_real(&function, site);
  struct qzl_thread *me = with_tasks(&function);
  if (me) qzl_tasks_wait(me);
  if (real) real();
  if (me) qzl_group_waited(me, site);
}
