/* Tasks of oneTBB: who makes one, who executes it, who waits for them. Parallel loops, reductions, task groups,
 * pipelines and flow graphs are templates in the program, which call the functions below; so does the library itself.
 * The library calls a task by its table of virtual procedures, and nobody else uses that between the call that makes
 * the task and its execution: so until then the task has a table of the layer's, in the layer's record of it.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: it, and who executes the task.
 * Must not: change which thread executes a task, or in which order; leave its table in a task that is being executed.
 */
#include "runtime_function.h"
#include "pthread-layer/src/state/job.h"
#include "pthread-layer/src/state/threads.h"

/* Of a class derived from tbb::detail::d1::task (oneapi/tbb/detail/_task.h), by the C++ ABI. Objects point to
 * `destroy`. */
typedef void *task_function(void *task, void *execution);
struct table {
  ptrdiff_t to_top;
  void *type, *destroy, *delete;
  task_function *execute, *cancel;
};
struct object {
  const void *table;
};
#define SEEN offsetof(struct table, destroy)
static const struct table *table_of(const struct object *task) {
  return (const struct table *)(const void *)((const char *)task->table - SEEN);
}

/* In the words of the record. */
struct words {
  struct table table;
  const void *own; /* what the object pointed to */
};
_Static_assert(sizeof(struct words) <= sizeof((struct qzl_task){0}.words), "room for a table");
static struct words *words_of(struct qzl_task *job) { return (struct words *)(void *)job->words; }
static struct qzl_task *job_of(const struct object *task) {
  return (struct qzl_task *)(void *)((char *)(uintptr_t)task->table - SEEN - offsetof(struct qzl_task, words));
}

/* A program whose tasks are suspended goes on with them in whichever thread: from then on nothing is known of them. */
static _Atomic bool suspends;
static struct qzl_thread *here(void) {
  struct qzl_thread *me =
    qzi_publishing() && !atomic_load_explicit(&suspends, memory_order_relaxed) ? qzl_here() : NULL;
  return me && me->thread.record ? me : NULL;
}

static task_function execute, cancel;
static void give_table(struct object *task, struct qzl_task *job) {
  const struct table *own = table_of(task);
  struct words *words = words_of(job);
  words->table = *own;
  words->table.execute = execute;
  words->table.cancel = cancel;
  words->own = task->table;
  task->table = &words->table.destroy;
}
static struct qzl_task *take_table(struct object *task) {
  struct qzl_task *job = job_of(task);
  task->table = words_of(job)->own;
  return job;
}
static bool has_ours(const struct object *task) { return table_of(task)->execute == execute; }
static uint64_t start_of(const struct object *task) { return (uint64_t)(uintptr_t)table_of(task)->execute; }

/* It is made by the calling thread, in a call that returns to `site`. */
static void makes(struct object *task, uint64_t context, uint64_t site) {
  struct qzl_thread *me = here();
  struct qzl_task *job = me && !has_ours(task) ? qzl_job_made(me, context, start_of(task), site) : NULL;
  if (job) give_table(task, job);
}

/* ---- executing them ---- */

struct running {
  struct qzl_thread *me;
  struct qzl_task *job;
};
/* Also when the task ends with an exception. */
static void ends(struct running *running) {
  struct qzl_thread *me = running->me;
  if (me && me == qzl_self && me->job == running->job)
    qzl_job_ends(me, running->job);
  else if (!me)
    qzl_job_dropped(running->job);
  /* else it was suspended meanwhile: its record is lost */
}
static void *execute(void *its, void *execution) {
  struct object *task = its;
  struct qzl_task *job = take_table(task);
  uint64_t site = job->site, context = *(const uint64_t *)execution; /* struct execution_data begins with it */
  __attribute__((cleanup(ends))) struct running running = {.me = here(), .job = job};
  if (running.me) qzl_job_begins(running.me, job);
  struct object *next = table_of(task)->execute(task, execution);
  if (next) makes(next, context, site); /* which the library executes next, in the same context */
  return next;
}
static void *cancel(void *its, void *execution) {
  struct object *task = its;
  qzl_job_dropped(take_table(task));
  return table_of(task)->cancel(task, execution);
}

/* ---- making them; names are those of the C++ ABI ---- */

#define REAL(name)                                                            \
  static struct qzl_runtime_function function = {#name, .own = (void *)name}; \
  uint64_t site = QZL_SITE();                                                 \
  __typeof__(name) *real;                                                     \
  *(void **)(void *)&real = qzl_runtime_real(&function, site)
static uint64_t number(const void *context) { return (uint64_t)(uintptr_t)context; }

/* tbb::detail::r1::spawn(d1::task &, d1::task_group_context &), with the number of a slot, and enqueue. */
QZL_EXPORT void _ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE(void *task, void *context);
void _ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE(void *task, void *context) {
  REAL(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE);
  if (!real) return;
  makes(task, number(context), site);
  real(task, context);
}
QZL_EXPORT void _ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt(void *task, void *context,
                                                                                  unsigned short slot);
void _ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt(void *task, void *context, unsigned short slot) {
  REAL(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt);
  if (!real) return;
  makes(task, number(context), site);
  real(task, context, slot);
}
QZL_EXPORT void _ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE(void *task,
                                                                                                          void *context,
                                                                                                          void *arena);
void _ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE(void *task,
                                                                                               void *context,
                                                                                               void *arena) {
  REAL(_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE);
  if (!real) return;
  makes(task, number(context), site);
  real(task, context, arena);
}

/* tbb::detail::r1::submit(d1::task &, d1::task_group_context &, arena *, std::uintptr_t): of flow graphs. */
QZL_EXPORT void _ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm(void *task,
                                                                                               void *context,
                                                                                               void *arena,
                                                                                               uintptr_t is_critical);
void _ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm(void *task, void *context,
                                                                                    void *arena,
                                                                                    uintptr_t is_critical) {
  REAL(_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm);
  if (!real) return;
  makes(task, number(context), site);
  real(task, context, arena, is_critical);
}

/* ---- waiting for them ---- */

static void waited(const struct qzl_job_wait *wait) {
  if (wait->me && wait->me == qzl_self) qzl_jobs_waited(wait);
}

/* Where the program called what the library does in several steps. */
static _Thread_local uint64_t outer_site __attribute__((tls_model("initial-exec")));

/* tbb::detail::r1::execute_and_wait(d1::task &, d1::task_group_context &, d1::wait_context &, d1::task_group_context
 * &): the two contexts are of the task, and of the wait. */
QZL_EXPORT void _ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_(
  void *task, void *its, void *until, void *its_wait);
void _ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_(
  void *task, void *its, void *until, void *its_wait) {
  REAL(_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_);
  if (!real) return;
  if (outer_site) site = outer_site;
  outer_site = 0;
  __attribute__((cleanup(waited))) struct qzl_job_wait wait;
  qzl_jobs_wait(&wait, has_ours(task) ? NULL : here(), number(its_wait), site, start_of(task));
  struct qzl_task *job = qzl_job_of_wait(&wait, number(its));
  if (job) give_table(task, job);
  real(task, its, until, its_wait);
}
/* tbb::detail::r1::wait(d1::wait_context &, d1::task_group_context &) */
QZL_EXPORT void _ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE(void *until, void *context);
void _ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE(void *until, void *context) {
  REAL(_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE);
  if (!real) return;
  __attribute__((cleanup(waited))) struct qzl_job_wait wait;
  qzl_jobs_wait(&wait, here(), number(context), site, 0);
  real(until, context);
}
/* tbb::detail::r1::parallel_pipeline(d1::task_group_context &, std::size_t, const d1::filter_node &) */
QZL_EXPORT void
_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE(void *context, size_t tokens,
                                                                                        const void *filters);
void _ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE(void *context,
                                                                                             size_t tokens,
                                                                                             const void *filters) {
  REAL(_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE);
  if (!real) return;
  outer_site = site;
  real(context, tokens, filters);
}

/* tbb::detail::r1::destroy(d1::task_group_context &) */
QZL_EXPORT void _ZN3tbb6detail2r17destroyERNS0_2d118task_group_contextE(void *context);
void _ZN3tbb6detail2r17destroyERNS0_2d118task_group_contextE(void *context) {
  REAL(_ZN3tbb6detail2r17destroyERNS0_2d118task_group_contextE);
  if (!real) return;
  qzl_jobs_over(number(context));
  real(context);
}
/* tbb::detail::r1::suspend(void (*)(void *, suspend_point_type *), void *) */
QZL_EXPORT void _ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_(void (*call)(void *, void *), void *with);
void _ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_(void (*call)(void *, void *), void *with) {
  REAL(_ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_);
  atomic_store(&suspends, true);
  if (real) real(call, with);
}
