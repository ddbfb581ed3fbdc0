/* Parallel regions of LLVM's OpenMP, and of others that know tools: the library reports them through OMPT, the
 * interface for tools of OpenMP 5.0 (chapter 4), in the order in which interpose/openmp.c learns of GCC's.
 *
 * Owns:    `teams`, one for each region that is being executed. Writer: the thread that begins the region.
 *          Reader: the threads of its team.
 * Must not: stand in the way of another tool: there can be one only, and the program's comes first.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include "runtime_function.h"
#include "pthread-layer/src/state/task.h"
#include "pthread-layer/src/state/team.h"
#include "pthread-layer/src/state/threads.h"

/* ---- the interface, as far as it is used ---- */

union data { /* the tool's, of a region or task */
  uint64_t value;
  void *pointer;
};
enum event {
  PARALLEL_BEGIN = 3,
  PARALLEL_END = 4,
  TASK_CREATE = 5,
  TASK_SCHEDULE = 6,
  IMPLICIT_TASK = 7,
  SYNC_REGION_WAIT = 16,
  DEPENDENCES = 18,
  SYNC_REGION = 23
};
enum endpoint { BEGINS = 1, ENDS = 2 };
enum task { INITIAL = 1, EXPLICIT = 4, UNDEFERRED = 1 << 27, UNTIED = 1 << 28, FINAL = 1 << 29 };
enum status {
  COMPLETE = 1,
  CANCEL = 3,
  SWITCH = 7
}; /* of a task that its thread leaves; the first two: it has ended */
enum dependence { IN = 1 };
struct dependence_on {
  union data variable;
  int type;
};
/* What threads meet for: 1 to 4 and from 8 on are barriers; 9 is that at the end of a region, which older libraries
 * report as any implicit one. */
enum meeting { IMPLICIT = 2, TASKWAIT = 5, TASKGROUP = 6, REDUCTION = 7, REGION_END = 9 };

typedef void callback(void);
typedef callback *lookup_function(const char *name);
typedef int set_callback(int event, callback *function);
struct tool {
  int (*initialize)(lookup_function *lookup, int device, union data *data);
  void (*finalize)(union data *data);
  union data data;
};

/* ---- teams ---- */

#define TEAMS 256u /* regions beyond them, at one time, are not known */
static struct region {
  struct qzl_team team;
  const void *site;      /* where the program begins the region */
  _Atomic unsigned size; /* its threads; stored by each, before it comes to a barrier */
  _Atomic bool used;
} teams[TEAMS];

static struct region *region_new(const struct qzl_thread *me) {
  for (uint32_t k = 0; k < TEAMS; k++) {
    struct region *region = &teams[(me->slot + k) % TEAMS];
    if (!atomic_load_explicit(&region->used, memory_order_relaxed) && !atomic_exchange(&region->used, true))
      return region;
  }
  return NULL;
}
static struct qzl_thread *here(void) {
  struct qzl_thread *me = qzi_publishing() ? qzl_here() : NULL;
  return me && me->thread.record ? me : NULL;
}
/* The region that the calling thread executes; NULL: none that the library reported (it may be one of GCC's). */
static struct region *its_region(const struct qzl_thread *me) {
  uintptr_t at = me ? (uintptr_t)me->team - (uintptr_t)teams : UINTPTR_MAX;
  return at < sizeof teams ? &teams[at / sizeof *teams] : NULL;
}

/* ---- events ---- */

static void parallel_begin(union data *task, const void *frame, union data *parallel, unsigned threads, int flags,
                           const void *site) {
  struct qzl_thread *me = here();
  struct region *region = me ? region_new(me) : NULL;
  parallel->pointer = region;
  if (!region) return;
  region->site = site;
  qzl_team_begins(&region->team, me);
}
static void implicit_task(int endpoint, union data *parallel, union data *task, unsigned threads, unsigned number,
                          int flags) {
  struct region *region = parallel ? parallel->pointer : NULL;
  struct qzl_thread *me = flags & INITIAL ? NULL : here();
  if (me && endpoint == ENDS && number) qzl_team_waited(me); /* for the next region, or the program's end */
  if (!me || endpoint == ENDS || !region) return;
  atomic_store_explicit(&region->size, threads, memory_order_relaxed);
  qzl_team_enters(&region->team, me);
}
/* ---- tasks ---- */

/* The library does not report what a task executes; but the compiler has it made by a call that does, before the
 * library reports it. Those that the library divides a loop into execute the same. */
static _Thread_local struct { uint64_t start, site; } made_last;
typedef void *alloc_function(void *place, int thread, int flags, size_t bytes, size_t shared_bytes, void *entry);
QZL_EXPORT alloc_function __kmpc_omp_task_alloc;
void *__kmpc_omp_task_alloc(void *place, int thread, int flags, size_t bytes, size_t shared_bytes, void *its) {
  static struct qzl_runtime_function function = {"__kmpc_omp_task_alloc", .own = (void *)__kmpc_omp_task_alloc};
  alloc_function *real;
  *(void **)(void *)&real = qzl_runtime_real(&function, QZL_SITE());
  made_last.start = (uint64_t)(uintptr_t)its;
  made_last.site = QZL_SITE();
  return real ? real(place, thread, flags, bytes, shared_bytes, its) : NULL;
}

/* One that is not tied may go on in another thread, which is not reported. */
static void task_create(union data *task, const void *frame, union data *made, int flags, int depends,
                        const void *site) {
  struct qzl_thread *me = flags & EXPLICIT && qzi_publishing() ? qzl_self : NULL;
  made->pointer = NULL;
  if (!me || !qzl_makes_tasks(me)) return;
  if (flags & UNTIED)
    qzl_task_unknown(me);
  else
    made->pointer = qzl_task_made(me, made_last.start, made_last.site ? made_last.site : (uint64_t)(uintptr_t)site,
                                  (flags & UNDEFERRED ? QZL_TASK_INCLUDED : 0) | (flags & FINAL ? QZL_TASK_FINAL : 0));
}
/* Data of a thread's implicit task are the round of a barrier, 0 or 1. */
static struct qzl_task *made_for(const union data *task) { return task->value > 1 ? task->pointer : NULL; }
static void dependences(union data *task, const struct dependence_on *on, int count) {
  struct qzl_task *made = task ? made_for(task) : NULL;
  for (int k = 0; made && k < count; k++) qzl_task_depends(made, on[k].variable.value, on[k].type != IN);
}
/* A thread goes over from one task to another: to one that has not begun, or, when that ends, back. */
static void task_schedule(union data *from, int status, union data *to) {
  struct qzl_thread *me = qzl_self;
  bool ends = status == COMPLETE || status == CANCEL;
  struct qzl_task *task = ends ? made_for(from) : status == SWITCH && to ? made_for(to) : NULL;
  if (!me || !task) return;
  if (!ends) {
    made_last.start = task->start;
    made_last.site = task->site;
    qzl_task_begins(me, task);
    return;
  }
  from->pointer = NULL;
  qzl_task_ends(me, task);
}
static void wait_for_tasks(struct qzl_thread *me, int meeting, int endpoint, const void *site) {
  if (meeting == TASKGROUP && endpoint == BEGINS && qzi_publishing() && me && qzl_makes_tasks(me))
    qzl_tasks_grouped(me);
  if (!me || !me->task) return;
  if (meeting == TASKWAIT && endpoint == BEGINS) qzl_tasks_wait(me);
  if (meeting == TASKWAIT && endpoint == ENDS) qzl_tasks_waited(me, (uint64_t)(uintptr_t)site);
  if (meeting == TASKGROUP && endpoint == ENDS) qzl_group_waited(me, (uint64_t)(uintptr_t)site);
}
static void sync_region_wait(int meeting, int endpoint, union data *parallel, union data *task, const void *site) {
  struct qzl_thread *me = qzl_self;
  if (meeting == TASKGROUP && endpoint == BEGINS && me && me->task) qzl_tasks_wait(me);
}

/* ---- barriers, and ends of regions ---- */

static void sync_region(int meeting, int endpoint, union data *parallel, union data *task, const void *site) {
  struct qzl_thread *me = qzl_self;
  struct region *region = qzi_publishing() ? its_region(me) : NULL;
  if (meeting == TASKWAIT || meeting == TASKGROUP) wait_for_tasks(me, meeting, endpoint, site);
  if (!region || !task || (meeting >= TASKWAIT && meeting <= REDUCTION)) return;
  bool at_end = meeting == REGION_END || (meeting == IMPLICIT && (!site || site == region->site));
  if (endpoint == BEGINS && at_end)
    qzl_team_leaves(&region->team, me);
  else if (endpoint == BEGINS)
    task->value = qzl_team_arrives(&region->team, me, atomic_load_explicit(&region->size, memory_order_relaxed));
  else if (!at_end)
    qzl_team_passed(&region->team, me, (unsigned)task->value & 1);
}
static void parallel_end(union data *parallel, union data *task, int flags, const void *site) {
  struct region *region = parallel->pointer;
  struct qzl_thread *me = region ? qzl_self : NULL;
  if (!region) return;
  if (me) qzl_team_ended(&region->team, me, (uint64_t)(uintptr_t)site);
  atomic_store_explicit(&region->used, false, memory_order_release);
}

/* ---- the tool ---- */

static int initialize(lookup_function *lookup, int device, union data *data) {
  set_callback *set = (set_callback *)lookup("ompt_set_callback");
  if (!set) return 0;
  set(PARALLEL_BEGIN, (callback *)parallel_begin);
  set(PARALLEL_END, (callback *)parallel_end);
  set(TASK_CREATE, (callback *)task_create);
  set(TASK_SCHEDULE, (callback *)task_schedule);
  set(DEPENDENCES, (callback *)dependences);
  set(SYNC_REGION_WAIT, (callback *)sync_region_wait);
  set(IMPLICIT_TASK, (callback *)implicit_task);
  set(SYNC_REGION, (callback *)sync_region);
  qzl_teams_reported();
  return 1;
}
static void finalize(union data *data) {}

QZL_EXPORT struct tool *ompt_start_tool(unsigned version, const char *library);
QZL_EXPORT struct tool *ompt_start_tool(unsigned version, const char *library) {
  static struct tool tool = {.initialize = initialize, .finalize = finalize};
  struct tool *(*next)(unsigned, const char *);
  *(void **)(void *)&next = dlsym(RTLD_NEXT, "ompt_start_tool"); /* the library's own asks further */
  struct tool *other = next ? next(version, library) : NULL;
  const char *libraries = getenv("OMP_TOOL_LIBRARIES");
  return other ? other : libraries && *libraries ? NULL : &tool;
}
