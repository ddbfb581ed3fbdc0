/* A trial of threads. See spare_tasks.h. */
#include "spare_tasks.h"

#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

/* A user with a higher limit has other uses for it than this program; a trial would cost each recording some time. */
#define LIMIT_TRIED 10000

static void *wait_for_end(void *all) {
  pthread_mutex_lock(all);
  pthread_mutex_unlock(all);
  return NULL;
}

unsigned qzi_spare_tasks(unsigned wanted) {
  struct rlimit limit;
  if (wanted > QZI_TASKS_TRIED) wanted = QZI_TASKS_TRIED;
  if (getrlimit(RLIMIT_NPROC, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > LIMIT_TRIED) return wanted;
  pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
  pthread_t threads[QZI_TASKS_TRIED];
  pthread_attr_t small; /* so that no limit of the address space counts here */
  if (pthread_attr_init(&small)) return wanted;
  pthread_attr_setstacksize(&small, (size_t)sysconf(_SC_THREAD_STACK_MIN));
  unsigned begun = 0;
  pthread_mutex_lock(&all);
  while (begun < wanted && !pthread_create(&threads[begun], &small, wait_for_end, &all)) begun++;
  pthread_mutex_unlock(&all);
  for (unsigned k = 0; k < begun; k++) pthread_join(threads[k], NULL);
  pthread_attr_destroy(&small);
  return begun;
}
