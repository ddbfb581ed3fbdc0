/* Parallel regions of GCC's OpenMP: who begins one, who executes it, barriers in it. libgomp's threads wait for
 * regions, and for each other, by system calls of their own; so what the compiler calls is intercepted.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: it, and the threads of its team.
 * Must not: change which threads execute a region, or how many.
 */
#include "pthread-layer/src/interpose/runtime_function.h"
#include "pthread-layer/src/state/team.h"
#include "pthread-layer/src/state/threads.h"

/* ---- regions ---- */

static void execute(void *argument) {
  struct qzl_team *team = argument;
  struct qzl_thread *me = qzi_publishing() ? qzl_here() : NULL;
  if (me) qzl_team_enters(team, me);
  qzl_runtime_user = (uint64_t)(uintptr_t)team->body;
  team->body(team->data);
  if (me) qzl_team_leaves(team, me);
}

/* The calling thread's team for the region, `team` if it is in another one; NULL: the region begins as if the layer
 * were not there. */
static inline struct qzl_team *begins(struct qzl_team *team, void (*body)(void *), void *data) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here()) || !me->thread.record) return NULL;
  return qzl_team_begins_for(team, me, body, data);
}

/* Of each function that begins a region: what it takes after the body and its data. Without a library there is one
 * thread. */
#define REGION(name, parameters, arguments)                                            \
  QZL_EXPORT void name(void (*body)(void *), void *data WITH parameters);              \
  QZL_EXPORT void name(void (*body)(void *), void *data WITH parameters) {             \
    static struct qzl_runtime_function function = {#name, .own = (void *)name};        \
    uint64_t site = QZL_SITE();                                                        \
    void (*real)(void (*)(void *), void *WITH parameters);                             \
    *(void **)(void *)&real = qzl_runtime_real(&function, site);                       \
    struct qzl_team room;                                                              \
    struct qzl_team *team = real && !function.llvm ? begins(&room, body, data) : NULL; \
    if (!real)                                                                         \
      body(data);                                                                      \
    else if (!team)                                                                    \
      real(body, data WITH arguments);                                                 \
    else {                                                                             \
      real(execute, team WITH arguments);                                              \
      qzl_team_ended(team, team->begun_by, site);                                      \
    }                                                                                  \
  }
#define CHUNKS           (unsigned threads, long start, long end, long step, long chunk, unsigned flags)
#define CHUNKS_ARGUMENTS (threads, start, end, step, chunk, flags)
#define WHOLE            (unsigned threads, long start, long end, long step, unsigned flags)
#define WHOLE_ARGUMENTS  (threads, start, end, step, flags)

REGION(GOMP_parallel, (unsigned threads, unsigned flags), (threads, flags))
REGION(GOMP_parallel_sections, (unsigned threads, unsigned count, unsigned flags), (threads, count, flags))
REGION(GOMP_parallel_loop_static, CHUNKS, CHUNKS_ARGUMENTS)
REGION(GOMP_parallel_loop_dynamic, CHUNKS, CHUNKS_ARGUMENTS)
REGION(GOMP_parallel_loop_guided, CHUNKS, CHUNKS_ARGUMENTS)
REGION(GOMP_parallel_loop_nonmonotonic_dynamic, CHUNKS, CHUNKS_ARGUMENTS)
REGION(GOMP_parallel_loop_nonmonotonic_guided, CHUNKS, CHUNKS_ARGUMENTS)
REGION(GOMP_parallel_loop_runtime, WHOLE, WHOLE_ARGUMENTS)
REGION(GOMP_parallel_loop_nonmonotonic_runtime, WHOLE, WHOLE_ARGUMENTS)
REGION(GOMP_parallel_loop_maybe_nonmonotonic_runtime, WHOLE, WHOLE_ARGUMENTS)

/* ---- barriers in a region, and at the ends of what it divides ---- */

static unsigned threads_of(uint64_t site) {
  static struct qzl_runtime_function function = {.name = "omp_get_num_threads"};
  int (*real)(void);
  *(void **)(void *)&real = qzl_runtime_real(&function, site);
  int threads = real ? real() : 1;
  return threads > 0 ? (unsigned)threads : 1;
}

static inline void pass(struct qzl_runtime_function *function, uint64_t site) {
  void (*real)(void);
  *(void **)(void *)&real = qzl_runtime_real(function, site);
  if (!real) return;
  struct qzl_thread *me = qzi_publishing() && !function->llvm ? qzl_self : NULL;
  struct qzl_team *team = me ? me->team : NULL;
  unsigned round = team ? qzl_team_arrives(team, me, threads_of(site)) : 0;
  real();
  if (team) qzl_team_passed(team, me, round);
}
#define BARRIER(name)                                                           \
  QZL_EXPORT void name(void);                                                   \
  QZL_EXPORT void name(void) {                                                  \
    static struct qzl_runtime_function function = {#name, .own = (void *)name}; \
    pass(&function, QZL_SITE());                                                \
  }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
