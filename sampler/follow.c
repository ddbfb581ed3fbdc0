/* Paths of threads without hooks. See follow.h. */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "futexes.h"
#include "pausing.h"
#include "polling.h"
#include "running.h"
#include "stalled.h"

#define LOAD(at) __atomic_load_n((at), __ATOMIC_RELAXED)
#define RUNNING_MOST 256u     /* threads whose running is sampled */
#define INTERVAL_NS  2000000u /* of their processor time between samples, at least: each costs the program 30 to 40 us in a virtual machine */

/* What is known of a thread record. */
struct known {
  uint64_t serial;
  uint64_t word, state;      /* of the record, when `node` was made */
  uint64_t sp, pc;           /* where the kernel said that it sleeps, then */
  uint64_t futex;            /* on which address */
  uint32_t from, node;       /* node of the record alone; with frames */
  uint32_t object;           /* index of the futex */
  uint32_t plain;            /* a node that hooks have not made */
  uint32_t ran_from, ran;    /* the same as from and node, of the last sample */
  uint64_t ran_word;         /* of the record, at the last snapshot that saw it running */
  struct qzi_running *running;
  struct qzi_walk *walk;     /* of the last sample */
  struct qzi_walk *slept;    /* of the last sleep that only the kernel knows of */
  uint8_t asked;             /* whether samples were asked for */
  struct qzi_stalled stalled;
  struct qzi_pausing pausing;
  uint64_t polls;            /* loop that the last sample found it in, where that only polls; else 0 */
};

struct qzi_follow {
  struct qzi_sampler *sampler;
  struct qzi_paths *paths; /* NULL: no unwinding */
  struct known *all;
  size_t all_bytes;
  uint32_t running;        /* threads whose running is sampled */
  struct qzi_walk walk;
  struct qzi_sample sample;
  struct qzi_polling polling;
};

struct qzi_follow *qzi_follow_open(struct qzi_sampler *sampler) {
  struct qzi_follow *follow = calloc(1, sizeof *follow);
  if (!follow) return NULL;
  follow->sampler = sampler;
  follow->all_bytes = (size_t)sampler->view->thread_table.capacity * sizeof *follow->all;
  follow->all = qzi_lazy_memory(follow->all_bytes);
  if (!follow->all) {
    free(follow);
    return NULL;
  }
  follow->paths = qzi_paths_open(sampler);
  return follow;
}

void qzi_follow_gone(struct qzi_follow *follow, uint32_t index) {
  struct known *known = &follow->all[index];
  if (!known->serial) return;
  follow->running -= known->running != NULL;
  qzi_running_close(known->running);
  free(known->walk);
  free(known->slept);
  memset(known, 0, sizeof *known);
}

void qzi_follow_close(struct qzi_follow *follow) {
  if (!follow) return;
  for (uint32_t k = 0; k < qz_session_thread_high(follow->sampler->view); k++) qzi_follow_gone(follow, k);
  qzi_paths_close(follow->paths);
  qzi_lazy_free(follow->all, follow->all_bytes);
  free(follow);
}

void qzi_follow_prepare(struct qzi_follow *follow) {
  if (follow->paths) qzi_paths_prepare(follow->paths);
}

uint32_t qzi_follow_loop(const struct qzi_follow *follow, uint32_t index) {
  const struct known *known = &follow->all[index];
  struct qzi_interner *in = &follow->sampler->in;
  uint64_t loop = known->polls && known->ran_from ? known->polls : known->stalled.loop; /* as its path, from the last sample */
  if (!loop) loop = qzi_pausing_at(&known->pausing, in->memos[index].word);
  return loop ? qzi_loop(in, loop, known->walk) : 0;
}
uint32_t qzi_follow_node(const struct qzi_follow *follow, uint32_t index) { return follow->all[index].node; }

/* ---- waits ---- */

/* The record says what the thread waits for, and where it was when it began to. */
static void follow_wait(struct qzi_follow *follow, struct known *known, uint32_t index, struct qzi_look *look, uint64_t now_ns) {
  const struct qz_thread *thread = qz_session_thread(follow->sampler->view, index);
  uint64_t word = follow->sampler->in.memos[index].word;
  if (known->from == look->node && known->word == word && known->state == look->state) {
    look->node = known->node; /* the same wait: every push and pop changes the word */
    return;
  }
  known->from = 0;
  known->node = look->node;
  if (look->torn || !qzi_paths_may(follow->paths, now_ns) || qzi_paths_walk_wait(follow->paths, index, &follow->walk)) return;
  /* Frames are those of the wait only where that still goes on. */
  if (LOAD(&thread->word) != word || LOAD(&thread->state) != look->state) return;
  uint64_t waiting = qzi_waits_at_top(follow->sampler, look->node, QZ_STATE_OBJECT(look->state))
                         ? follow->sampler->in.node_keys[look->node] : 0;
  if (waiting && follow->walk.count) qzi_paths_taken(follow->paths, waiting, follow->walk.entries[follow->walk.count - 1]);
  if (waiting) qzi_paths_settle_place(follow->paths, waiting, &follow->walk);
  known->from = look->node;
  known->word = word;
  known->state = look->state;
  known->node = look->node = qzi_paths_node(follow->paths, index, look->node, &follow->walk, waiting, 1);
  follow->sampler->file->head->paths |= QZ_PATHS_WAITS;
}

/* Only the kernel knows that it sleeps. */
static void follow_sleep(struct qzi_follow *follow, struct known *known, uint32_t index, struct qzi_look *look, int hooked,
                         const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns) {
  int futex = asleep->call == SYS_futex;
  uint64_t word = follow->sampler->in.memos[index].word;
  int same = known->from == look->node && known->word == word && known->state == look->state && known->sp == asleep->sp &&
             known->pc == asleep->pc && known->futex == (futex ? asleep->first : 0);
  /* Two waits may look the same from here, so each is walked, as long as there is time for it. */
  struct qzi_walk *walk = &follow->walk;
  *walk = (struct qzi_walk){.count = 0};
  int walked = 0;
  if (same && asleep->rested) {
    look->node = known->node;
    *object = known->object;
    return;
  }
  if (follow->paths && asleep->sp && qzi_paths_may(follow->paths, now_ns)) {
    struct qzi_registers from = {.pc = asleep->pc, .sp = asleep->sp};
    walked = !qzi_paths_walk(follow->paths, index, &from, NULL, walk);
  }
  if (!walked && same) {
    look->node = known->node;
    *object = known->object;
    return;
  }
  if (hooked) walk->count = 0;
  if (walked && !known->slept) known->slept = malloc(sizeof *known->slept);
  if (walked && known->slept) *known->slept = *walk;
  uint32_t found = futex ? qzi_futex(&follow->sampler->in, asleep->first, walk) : 0;
  known->from = look->node;
  known->word = word;
  known->state = look->state;
  known->sp = asleep->sp;
  known->pc = asleep->pc;
  known->futex = futex ? asleep->first : 0;
  known->object = *object = found;
  if (walked && !hooked) follow->sampler->file->head->paths |= QZ_PATHS_WAITS;
  if (walk->count || found)
    look->node = qzi_paths_node(follow->paths, index, look->node, walk, found ? QZ_KEY(QZ_KIND_FUTEX, found) : 0, 1);
  known->node = look->node;
}

/* ---- running ---- */

static void ask_for_samples(struct qzi_follow *follow, struct known *known, uint32_t index) {
  struct qz_profile *head = follow->sampler->file->head;
  known->asked = 1;
  if (head->paths & QZ_PATHS_NO_SAMPLES) return;
  if (follow->running == RUNNING_MOST) {
    head->paths |= QZ_PATHS_FEW_SAMPLES;
    return;
  }
  uint64_t interval_ns = head->rate_mhz ? UINT64_C(500000000000) / head->rate_mhz : 0; /* two for a snapshot */
  if (interval_ns < INTERVAL_NS) interval_ns = INTERVAL_NS;
  known->running = qzi_running_open(LOAD(&qz_session_thread(follow->sampler->view, index)->os_tid), interval_ns);
  if (known->running) follow->running++;
  else if (errno == ESRCH) known->asked = 0;
  else head->paths |= follow->running ? QZ_PATHS_FEW_SAMPLES : QZ_PATHS_NO_SAMPLES;
}

static void follow_running(struct qzi_follow *follow, struct known *known, uint32_t index, struct qzi_look *look,
                           const struct qzi_asleep *asleep, uint64_t now_ns) {
  if (!known->asked) ask_for_samples(follow, known, index);
  int fresh = 0, sampled = known->running && qzi_running_read(known->running, &follow->sample);
  if (sampled) {
    known->polls = qzi_polling_look(&follow->polling, follow->sampler->file->head->pid, &follow->sample);
    qzi_stalled_look(&known->stalled, follow->sampler->file->head->pid, follow->sampler->in.memos[index].word, &follow->sample);
  }
  if (sampled && qzi_paths_may(follow->paths, now_ns)) {
    if (!known->walk) known->walk = calloc(1, sizeof *known->walk);
    fresh = known->walk && !qzi_paths_walk(follow->paths, index, &follow->sample.at, &follow->sample.copy, known->walk);
  }
  if (sampled)
    qzi_pausing_look(&known->pausing, follow->sampler->file->head->pid, follow->sampler->in.memos[index].word, &follow->sample, follow->paths,
                     fresh ? known->walk : NULL);
  known->from = 0;
  known->node = look->node;
  /* Woken, but not yet given a CPU: it is where it slept. */
  if (!fresh && asleep->rested && known->slept) {
    known->ran_from = 0;
    known->node = look->node = qzi_paths_node(follow->paths, index, look->node, known->slept, 0, 1);
    return;
  }
  uint64_t word = follow->sampler->in.memos[index].word; /* the same as at the snapshot before: no lock taken since */
  static const struct qzi_walk none; /* no sample yet, or none to be had: at least, who took the locks that it holds */
  if (known->walk) follow->sampler->file->head->paths |= QZ_PATHS_RUNNING;
  if (fresh || known->ran_from != look->node) {
    known->ran_from = look->node;
    known->ran = qzi_paths_node(follow->paths, index, look->node, known->walk ? known->walk : &none, 0, fresh && known->ran_word == word);
  }
  known->ran_word = word;
  known->node = look->node = known->ran;
}

void qzi_follow_taken(struct qzi_follow *follow, uint64_t key, uint64_t site) {
  if (follow->paths) qzi_paths_taken_at(follow->paths, key, site);
}

/* ---- both ---- */

void qzi_follow(struct qzi_follow *follow, uint32_t index, struct qzi_look *look, unsigned state, int published,
                const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns) {
  struct known *known = &follow->all[index];
  if (known->serial != look->serial) qzi_follow_gone(follow, index);
  known->serial = look->serial;
  if (state != QZ_STATE_USEFUL) {
    known->stalled.loop = 0;
    known->pausing = (struct qzi_pausing){0};
  }
  int hooked = known->plain != look->node && qzi_paths_hooked(follow->sampler, index, look->node);
  if (hooked) follow->sampler->file->head->paths |= QZ_PATHS_HOOKS;
  else known->plain = look->node;
  if (!published && (state == QZ_STATE_IO || state == QZ_STATE_BLOCKED)) {
    if (asleep->known) follow_sleep(follow, known, index, look, hooked, asleep, object, now_ns);
  } else if (!hooked && follow->paths) {
    if (published && (state == QZ_STATE_BLOCKED || state == QZ_STATE_SPINNING)) follow_wait(follow, known, index, look, now_ns);
    else if (state == QZ_STATE_USEFUL || state == QZ_STATE_SPINNING) follow_running(follow, known, index, look, asleep, now_ns);
  } else {
    known->polls = 0;
    known->from = 0;
    known->node = look->node;
  }
}
