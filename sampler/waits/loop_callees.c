/* See loop_callees.h. */
#include "loop_callees.h"

#include <string.h>
#include "sampler/machine_code/call_target.h"
#include "sampler/linux/process_memory.h"

#define PAGE UINT64_C(4096)

static enum qzi_callee by_name(const char *name) {
  static const char *const clocks[] = {"clock_gettime",
                                       "__clock_gettime",
                                       "gettimeofday",
                                       "__gettimeofday",
                                       "time",
                                       "clock",
                                       "timespec_get",
                                       "omp_get_wtime",
                                       "_ZNSt6chrono3_V212steady_clock3nowEv",
                                       "_ZNSt6chrono3_V212system_clock3nowEv",
                                       "_ZNSt3__16chrono12steady_clock3nowEv",
                                       "_ZNSt3__16chrono12system_clock3nowEv"};
  static const char *const yields[] = {"sched_yield",
                                       "__sched_yield",
                                       "pthread_yield",
                                       "thrd_yield",
                                       "__cyg_profile_func_enter",
                                       "__cyg_profile_func_exit"};
  static const char *const hooks[] = {"__fentry__", "__return__"};
  size_t length = strcspn(name, "@"); /* without its symbol version */
  for (size_t k = 0; k < sizeof clocks / sizeof *clocks; k++)
    if (!strncmp(name, clocks[k], length) && !clocks[k][length]) return QZI_CALLEE_CLOCK;
  for (size_t k = 0; k < sizeof yields / sizeof *yields; k++)
    if (!strncmp(name, yields[k], length) && !yields[k][length]) return QZI_CALLEE_YIELD;
  for (size_t k = 0; k < sizeof hooks / sizeof *hooks; k++)
    if (!strncmp(name, hooks[k], length) && !hooks[k][length]) return QZI_CALLEE_HOOK;
  return QZI_CALLEE_UNKNOWN;
}

enum qzi_callee qzi_callee_look(void *context, uint64_t target, uint64_t back, struct qzi_code *code,
                                unsigned char *bytes) {
  struct qzi_paths *paths = context;
  uint32_t pid = qzi_paths_pid(paths);
  target = back ? qzi_call_target(pid, back) : qzi_jump_target(pid, target);
  if (!target) return QZI_CALLEE_UNKNOWN;
  if (qzi_paths_vdso(paths, target)) return QZI_CALLEE_CLOCK; /* the vDSO's procedures read the time */
  int library;
  enum qzi_callee named = by_name(qzi_paths_symbol(paths, target, &library));
  if (named || library) return named;
  size_t count = QZI_CALLEE_BYTES, page = (size_t)(PAGE - target % PAGE);
  if (qzi_program_read(pid, target, bytes, count) &&
      (page >= count || qzi_program_read(pid, target, bytes, count = page)))
    return QZI_CALLEE_UNKNOWN;
  *code = (struct qzi_code){.address = target, .bytes = bytes, .count = count};
  return QZI_CALLEE_CODE;
}
