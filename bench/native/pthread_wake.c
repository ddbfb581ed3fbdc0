/* Threads that wake each other all the time: processor time of one hand-over, ns, the median and the least of some
 * batches, and how often the kernel switched. Recorded, it has what the layer adds to a wait and what the kernel does
 * with the sampler's events when it switches threads.
 *
 * bench_pthread_wake [CASE [CPUS]]: on so many CPUs, 1 where nothing is said.
 *   condition  two threads take turns by a mutex and a condition
 *   semaphore  two threads take turns by two semaphores
 *   queue      one thread puts jobs of some 100 ns into a queue of 4, two take them: a job is a hand-over
 *   mutex      two threads lock one mutex for some ns, and yield while they have it: the other has to wait */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { BATCHES = 25, TURNS = 4000, ROOM = 4, WORKERS = 2 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, filled = PTHREAD_COND_INITIALIZER;
static sem_t turns[2];
static int turn, held;
static volatile uint64_t sum;

static void by_condition(int mine, int count) {
  pthread_mutex_lock(&lock);
  for (int k = 0; k < count; k++) {
    while (turn != mine) pthread_cond_wait(&changed, &lock);
    turn = !mine;
    pthread_cond_signal(&changed);
  }
  pthread_mutex_unlock(&lock);
}
static void by_semaphore(int mine, int count) {
  for (int k = 0; k < count; k++) {
    sem_wait(&turns[mine]);
    sem_post(&turns[!mine]);
  }
}
static void work(void) {
  for (int k = 0; k < 80; k++) sum = sum * 3 + 1;
}
/* The first thread puts twice the requested number: as many as there are hand-overs in the other cases. */
static void by_queue(int mine, int count) {
  for (int k = 0; k < 2 * count; k++) {
    pthread_mutex_lock(&lock);
    while (held == ROOM) pthread_cond_wait(&changed, &lock);
    held++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
  }
}
static void *take_jobs(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (!held) pthread_cond_wait(&filled, &lock);
    if (held < 0) break;
    if (held-- == ROOM) pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    work();
  }
  pthread_mutex_unlock(&lock);
  return unused;
}
static void by_mutex(int mine, int count) {
  for (int k = 0; k < count; k++) {
    pthread_mutex_lock(&lock);
    sched_yield();
    pthread_mutex_unlock(&lock);
  }
}

static void (*take_turns)(int mine, int count);
static void *other(void *unused) {
  take_turns(1, BATCHES * TURNS);
  return unused;
}
static uint64_t cpu_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}
static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static void on_cpus(int count) {
  cpu_set_t all, some;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&some);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < count; cpu++)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &some);
  sched_setaffinity(0, sizeof some, &some);
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "condition";
  static const struct {
    const char *name;
    void (*take_turns)(int mine, int count);
  } cases[] = {{"condition", by_condition}, {"semaphore", by_semaphore}, {"queue", by_queue}, {"mutex", by_mutex}};
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
    if (!strcmp(what, cases[k].name)) take_turns = cases[k].take_turns;
  if (!take_turns) return fprintf(stderr, "usage: bench_pthread_wake [condition|semaphore|queue|mutex [CPUS]]\n"), 2;
  on_cpus(count > 2 ? atoi(arguments[2]) : 1);
  sem_init(&turns[0], 0, 1);
  sem_init(&turns[1], 0, 0);
  int queue = take_turns == by_queue, threads = queue ? WORKERS : 1;
  pthread_t thread[WORKERS];
  for (int k = 0; k < threads; k++) pthread_create(&thread[k], NULL, queue ? take_jobs : other, NULL);
  double each[BATCHES];
  take_turns(0, queue ? TURNS : 0);
  for (int batch = 0; batch < BATCHES; batch++) {
    uint64_t begin = cpu_ns();
    take_turns(0, TURNS);
    each[batch] = (double)(cpu_ns() - begin) / (2.0 * TURNS);
  }
  if (queue) {
    pthread_mutex_lock(&lock);
    held = -1; /* what is left is not worked on */
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&lock);
  }
  for (int k = 0; k < threads; k++) pthread_join(thread[k], NULL);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  qsort(each, BATCHES, sizeof *each, by_value);
  printf("%.0f ns (least %.0f), switches each %.2f\n", each[BATCHES / 2], each[0],
         (double)(used.ru_nvcsw + used.ru_nivcsw) / (2.0 * TURNS * BATCHES));
  return 0;
}
