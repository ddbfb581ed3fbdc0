/* Components in which threads take small pieces, or take turns: a pool, its last piece, tokens, turns, a lock of the
 * program's own, an atomic counter. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include "crew.h"

/* pool: n tasks of a us, of which each thread takes the next one with the list's lock. fix: 64 at a time. */
static struct {
  pthread_mutex_t lock;
  long next;
} task_list = {PTHREAD_MUTEX_INITIALIZER, 0};
WORK(solve_task)
__attribute__((noipa)) static long next_tasks(long most) {
  pthread_mutex_lock(&task_list.lock);
  long from = task_list.next;
  task_list.next += most;
  pthread_mutex_unlock(&task_list.lock);
  return from;
}
static void *solver(void *member) {
  const struct spec *spec = ((const struct member *)member)->spec;
  long most = spec->fix ? 64 : 1;
  for (long from; (from = next_tasks(most)) < spec->count;)
    for (long k = from; k < from + most && k < spec->count; k++) solve_task(spec->a);
  return NULL;
}
static void run_pool(const struct spec *spec) { run_crew(spec, spec->threads, solver); }

/* tail: n scenes of a us, taken in turn, and a last one of b us. fix: that one is first. */
static atomic_long next_scene;
WORK(render_scene)
static void *scene_worker(void *member) {
  const struct spec *spec = ((const struct member *)member)->spec;
  for (long k; (k = atomic_fetch_add(&next_scene, 1)) <= spec->count;)
    render_scene(k == (spec->fix ? 0 : spec->count) ? spec->b : spec->a);
  return NULL;
}
static void run_tail(const struct spec *spec) { run_crew(spec, spec->threads, scene_worker); }

/* tokens: n orders, checked in a us, shipped in b us by who has the only token (a semaphore). fix: one for each. */
static sem_t ship_tokens;
WORK(check_order)
WORK(ship_order)
static void *shipper(void *member) {
  const struct spec *spec = ((const struct member *)member)->spec;
  for (long k = 0; k < spec->count / spec->threads; k++) {
    check_order(spec->a);
    sem_wait(&ship_tokens);
    ship_order(spec->b);
    sem_post(&ship_tokens);
  }
  return NULL;
}
static void run_tokens(const struct spec *spec) {
  sem_init(&ship_tokens, 0, spec->fix ? (unsigned)spec->threads : 1);
  run_crew(spec, spec->threads, shipper);
}

/* turns: n moves of a us, which two threads make in turn. fix: each when it likes. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int whose;
} board = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
WORK(make_move)
__attribute__((noipa)) static void await_turn(int index) {
  pthread_mutex_lock(&board.lock);
  while (board.whose != index) pthread_cond_wait(&board.changed, &board.lock);
  pthread_mutex_unlock(&board.lock);
}
__attribute__((noipa)) static void end_turn(int index) {
  pthread_mutex_lock(&board.lock);
  board.whose = !index;
  pthread_cond_signal(&board.changed);
  pthread_mutex_unlock(&board.lock);
}
static void *player(void *member) {
  const struct member *self = member;
  for (long k = 0; k < self->spec->count / 2; k++) {
    if (!self->spec->fix) await_turn(self->index);
    make_move(self->spec->a);
    if (!self->spec->fix) end_turn(self->index);
  }
  return NULL;
}
static void run_turns(const struct spec *spec) { run_crew(spec, 2, player); }

/* spinlock: n cells, computed in a us, merged in b us with a lock of atomic exchanges. fix: a lock for each thread. */
static struct { _Alignas(LINE_BYTES) atomic_int taken; } merge_locks[MAX_THREADS];
WORK(compute_cell)
WORK(merge_cell)
__attribute__((noipa)) static void take_merge_lock(atomic_int *taken) {
  while (atomic_exchange_explicit(taken, 1, memory_order_acquire)) {
    while (atomic_load_explicit(taken, memory_order_relaxed)) {}
  }
}
static void *merger(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  atomic_int *taken = &merge_locks[spec->fix ? self->index : 0].taken;
  for (long k = 0; k < spec->count / spec->threads; k++) {
    compute_cell(spec->a);
    take_merge_lock(taken);
    merge_cell(spec->b);
    atomic_store_explicit(taken, 0, memory_order_release);
  }
  return NULL;
}
static void run_spinlock(const struct spec *spec) { run_crew(spec, spec->threads, merger); }

/* atomic: n votes, each counted in one atomic counter of all threads, with c steps of work. fix: one for each thread.
 */
static struct { _Alignas(LINE_BYTES) atomic_ulong votes; } vote_counts[MAX_THREADS];
__attribute__((noipa)) static void count_votes(long votes, atomic_ulong *count, long size) {
  uint64_t x = 1;
  for (long k = 0; k < votes; k++) {
    for (long left = size; left > 0; left--) x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u + 1;
    atomic_fetch_add_explicit(count, x & 1, memory_order_relaxed);
  }
}
static void *voter(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  count_votes(spec->count / spec->threads, &vote_counts[spec->fix ? self->index : 0].votes, spec->size);
  return NULL;
}
static void run_atomic(const struct spec *spec) { run_crew(spec, spec->threads, voter); }

const struct component pool_components[] = {{"pool", run_pool},   {"tail", run_tail},         {"tokens", run_tokens},
                                            {"turns", run_turns}, {"spinlock", run_spinlock}, {"atomic", run_atomic},
                                            {NULL, NULL}};
