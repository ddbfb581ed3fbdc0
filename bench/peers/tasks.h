/* Task systems without threads of their own: only spawn and fork-join. A program defines `spawn` and `spawn_batch` (n
 * operations, ns that they took) and `fib` (ns that fib(n) took), and calls run_tasks where tasks may be made. Where it
 * has what fork_join.h asks for, its cases are there, too. */
#include "measure.h"
#ifdef SCOPE
#include "fork_join.h"
#endif

static double spawn(long n);
static double spawn_batch(long n);
static double fib(long n);

static inline int run_tasks(const char *name, int processors) {
  measure_processors(processors);
  if (!strcmp(name, "spawn") || !strcmp(name, "task"))
    measure(spawn, 1000, 1);
  else if (!strcmp(name, "spawn-batch") || !strcmp(name, "task-batch"))
    measure(spawn_batch, 1000, 1000);
  else if (!strcmp(name, "fib"))
    measure_fib(fib, 20, 36);
  else
#ifdef SCOPE
    return run_fork_join(name);
#else
    return 3;
#endif
  return 0;
}
