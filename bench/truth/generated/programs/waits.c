/* Components in which threads pass something on, and wait for it: a queue, three stages, a condition, a flag that is
 * polled. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include "crew.h"

/* queue: n frames, decoded in a us, encoded in b us by another thread, at most c between them. fix: 1 passed on 64 at a
 * time, 2 both stages take as long. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t not_full, not_empty;
  long waiting;
} frames = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
WORK(decode_frame)
WORK(encode_frame)
__attribute__((noipa)) static void put_frames(long capacity) {
  pthread_mutex_lock(&frames.lock);
  while (frames.waiting >= capacity) pthread_cond_wait(&frames.not_full, &frames.lock);
  frames.waiting++;
  pthread_cond_signal(&frames.not_empty);
  pthread_mutex_unlock(&frames.lock);
}
__attribute__((noipa)) static void take_frames(void) {
  pthread_mutex_lock(&frames.lock);
  while (frames.waiting == 0) pthread_cond_wait(&frames.not_empty, &frames.lock);
  frames.waiting--;
  pthread_cond_signal(&frames.not_full);
  pthread_mutex_unlock(&frames.lock);
}
static int at_a_time(const struct spec *spec) { return spec->fix == 1 ? 64 : 1; }
static void *decoder(void *member) {
  const struct spec *spec = ((const struct member *)member)->spec;
  double work = spec->fix == 2 ? (spec->a + spec->b) / 2 : spec->a;
  for (long k = 0; k < spec->count / at_a_time(spec); k++) {
    for (int each = 0; each < at_a_time(spec); each++) decode_frame(work);
    put_frames(spec->fix == 1 && spec->size < 4 ? 4 : spec->size);
  }
  return NULL;
}
static void *encoder(void *member) {
  const struct spec *spec = ((const struct member *)member)->spec;
  double work = spec->fix == 2 ? (spec->a + spec->b) / 2 : spec->b;
  for (long k = 0; k < spec->count / at_a_time(spec); k++) {
    take_frames();
    for (int each = 0; each < at_a_time(spec); each++) encode_frame(work);
  }
  return NULL;
}
static void *stage(void *member) { return ((struct member *)member)->index ? encoder(member) : decoder(member); }
static void run_queue(const struct spec *spec) { run_crew(spec, 2, stage); }

/* stages: n parts through three threads with room for c between them: cut in a us, milled in b us, packed in a / 2 us.
 * fix: 1 passed on 64 at a time, 2 two threads mill. */
struct belt {
  sem_t there, room;
};
static struct belt cut_parts, milled_parts;
WORK(cut_part)
WORK(mill_part)
WORK(pack_part)
static void put_part(struct belt *belt) {
  sem_wait(&belt->room);
  sem_post(&belt->there);
}
static void take_part(struct belt *belt) {
  sem_wait(&belt->there);
  sem_post(&belt->room);
}
static void *part_worker(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  long each = spec->fix == 1 ? 64 : 1, millers = spec->fix == 2 ? 2 : 1;
  for (long k = 0; k < spec->count / each / (self->index == 0 || self->index == 3 ? 1 : millers); k++) {
    if (self->index > 0) take_part(self->index == 3 ? &milled_parts : &cut_parts);
    for (long one = 0; one < each; one++)
      if (self->index == 0)
        cut_part(spec->a);
      else if (self->index == 3)
        pack_part(spec->a / 2);
      else
        mill_part(spec->b);
    if (self->index < 3) put_part(self->index == 0 ? &cut_parts : &milled_parts);
  }
  return NULL;
}
static void *cut_or_pack(void *member) {
  struct member self = *(const struct member *)member;
  if (self.index == 2 && self.spec->fix != 2) self.index = 3;
  return part_worker(&self);
}
static void run_stages(const struct spec *spec) {
  sem_init(&cut_parts.there, 0, 0);
  sem_init(&milled_parts.there, 0, 0);
  sem_init(&cut_parts.room, 0, (unsigned)spec->size);
  sem_init(&milled_parts.room, 0, (unsigned)spec->size);
  run_crew(spec, spec->fix == 2 ? 4 : 3, cut_or_pack);
}

/* herd: n jobs of a us, made in b us, for t threads that wait at one condition; all are woken for each. fix: one is. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t ready;
  long open;
  int ended;
} jobs = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
WORK(make_job)
WORK(do_job)
__attribute__((noipa)) static void post_job(int one, int ended) {
  pthread_mutex_lock(&jobs.lock);
  if (ended)
    jobs.ended = 1;
  else
    jobs.open++;
  if (one)
    pthread_cond_signal(&jobs.ready);
  else
    pthread_cond_broadcast(&jobs.ready);
  pthread_mutex_unlock(&jobs.lock);
}
__attribute__((noipa)) static int next_job(void) {
  pthread_mutex_lock(&jobs.lock);
  while (jobs.open == 0 && !jobs.ended) pthread_cond_wait(&jobs.ready, &jobs.lock);
  int got = jobs.open > 0;
  jobs.open -= got;
  pthread_mutex_unlock(&jobs.lock);
  return got;
}
static void *jobber(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  if (self->index > 0) {
    while (next_job()) do_job(spec->a);
    return NULL;
  }
  for (long k = 0; k < spec->count; k++) {
    make_job(spec->b);
    post_job(spec->fix, 0);
  }
  post_job(0, 1);
  return NULL;
}
static void run_herd(const struct spec *spec) { run_crew(spec, spec->threads + 1, jobber); }

/* poll: two threads fill n tiles of a us, a third one spins until each c-th is there. fix: it sleeps. */
static atomic_long tiles_filled;
static sem_t tiles_ready;
WORK(fill_tile)
__attribute__((noipa)) static void await_tiles(long wanted) {
  while (atomic_load_explicit(&tiles_filled, memory_order_acquire) < wanted) {}
}
static void *filler(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  long all = spec->count / 2 * 2;
  if (self->index == 2) {
    for (long k = spec->size; k <= all; k += spec->size)
      if (spec->fix)
        sem_wait(&tiles_ready);
      else
        await_tiles(k);
    return NULL;
  }
  for (long k = 0; k < all / 2; k++) {
    fill_tile(spec->a);
    long filled = atomic_fetch_add(&tiles_filled, 1) + 1;
    if (spec->fix && filled % spec->size == 0) sem_post(&tiles_ready);
  }
  return NULL;
}
static void run_poll(const struct spec *spec) {
  sem_init(&tiles_ready, 0, 0);
  run_crew(spec, 3, filler);
}

const struct component wait_components[] = {
  {"queue", run_queue}, {"stages", run_stages}, {"herd", run_herd}, {"poll", run_poll}, {NULL, NULL}};
