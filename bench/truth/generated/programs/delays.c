/* Components that wait for time to pass: for what is fetched, while they hold a lock, and for one another. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>
#include "crew.h"

/* fetch: n letters, each fetched in b us of waiting, then sorted in a us. fix: another thread fetches, up to 8 ahead.
 */
static sem_t letters_there, letter_room;
WORK(sort_letter)
__attribute__((noipa)) static void fetch_letter(double us) { usleep((useconds_t)us); }
static void *postman(void *member) {
  const struct spec *spec = ((const struct member *)member)->spec;
  for (long k = 0; k < spec->count; k++) {
    sem_wait(&letter_room);
    fetch_letter(spec->b);
    sem_post(&letters_there);
  }
  return NULL;
}
__attribute__((noipa)) static void sort_letters(const struct spec *spec) {
  for (long k = 0; k < spec->count; k++) {
    if (spec->fix)
      sem_wait(&letters_there);
    else
      fetch_letter(spec->b);
    sort_letter(spec->a);
    if (spec->fix) sem_post(&letter_room);
  }
}
static void *sorter(void *member) {
  if (((const struct member *)member)->index == 0) return postman(member);
  sort_letters(((const struct member *)member)->spec);
  return NULL;
}
static void run_fetch(const struct spec *spec) {
  sem_init(&letters_there, 0, 0);
  sem_init(&letter_room, 0, 8);
  if (spec->fix)
    run_crew(spec, 2, sorter);
  else
    sort_letters(spec);
}

/* guard: n pages, made in a us, sent in b us of waiting with the link's lock. fix: a link for each thread. */
static pthread_mutex_t link_lock[MAX_THREADS];
WORK(make_page)
__attribute__((noipa)) static void send_page(pthread_mutex_t *lock, double us) {
  pthread_mutex_lock(lock);
  usleep((useconds_t)us);
  pthread_mutex_unlock(lock);
}
static void *page_sender(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  for (long k = 0; k < spec->count / spec->threads; k++) {
    make_page(spec->a);
    send_page(&link_lock[spec->fix ? self->index : 0], spec->b);
  }
  return NULL;
}
static void run_guard(const struct spec *spec) {
  for (int k = 0; k < MAX_THREADS; k++) pthread_mutex_init(&link_lock[k], NULL);
  run_crew(spec, spec->threads, page_sender);
}

/* doze: n plates of a us, washed and dried by two threads, c between them; who must wait looks again after b us. fix:
 * it is woken. */
static atomic_long washed_plates, dried_plates;
static sem_t plates_there, plate_room;
WORK(wash_plate)
WORK(dry_plate)
__attribute__((noipa)) static void await_plates(const struct spec *spec, sem_t *ready, atomic_long *count,
                                                long wanted) {
  if (spec->fix)
    sem_wait(ready);
  else
    while (atomic_load(count) < wanted) usleep((useconds_t)spec->b);
}
static void *kitchen_help(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  for (long k = 1; k <= spec->count; k++)
    if (self->index == 0) {
      wash_plate(spec->a);
      await_plates(spec, &plate_room, &dried_plates, k - spec->size);
      atomic_store(&washed_plates, k);
      if (spec->fix) sem_post(&plates_there);
    } else {
      await_plates(spec, &plates_there, &washed_plates, k);
      dry_plate(spec->a);
      atomic_store(&dried_plates, k);
      if (spec->fix) sem_post(&plate_room);
    }
  return NULL;
}
static void run_doze(const struct spec *spec) {
  sem_init(&plates_there, 0, 0);
  sem_init(&plate_room, 0, (unsigned)spec->size);
  run_crew(spec, 2, kitchen_help);
}

const struct component delay_components[] = {
  {"fetch", run_fetch}, {"guard", run_guard}, {"doze", run_doze}, {NULL, NULL}};
