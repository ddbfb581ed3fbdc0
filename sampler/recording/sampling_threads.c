/* The sampling threads of one recording. See recording.h.
 *
 * The first thread paces, adds, and is the only one that writes the profile. Where there are others each visits a range
 * of the processors when the first says so: it stores the round's number, visits its own range, and goes on when
 * all have stored that they are done. So b, s and r of a snapshot come from one set of visits (snapshot.h).
 */
#include "recording.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "cpu_placement.h"
#include "sampler/util/clock.h"
#include "sampler/linux/affinity.h"
#include "sampler/linux/futex_wait.h"

#define SPIN_RATE_MHZ   UINT64_C(10000000)
#define PROMPT_RATE_MHZ UINT64_C(5000000) /* the highest rate at which the sampler may have real-time priority */
#define SLEEP_RATE_MHZ  UINT64_C(1000000)
#define KEEP_NS         UINT64_C(100000000) /* interval of bookkeeping */
#define EXACT_NS        UINT64_C(500000000) /* interval between readings of exact counts; longer if one takes long */
#define WAKES_SEEN      16u                 /* one wake-up in this many is measured */
#define EXACT_COST      1600u               /* exact counts may use 1 / 1600 */
#define OTHERS_BATCH    8u
#define OTHERS_SPIN_NS  UINT64_C(25000) /* mean time per snapshot for threads without processors and for objects */
#define OTHERS_SLEEP_NS UINT64_C(4000)
#define HELPER_SPINS    20000
#define LAST            2u /* intervals: the program's activity after its last snapshot is added from there on */

struct qzi_helper {
  struct qzi_recording *recording;
  pthread_t thread;
  uint32_t first, end, seen;
  int cpu;
  _Atomic uint64_t cpu_ns;
  int spins; /* between rounds, on a CPU of its own */
};

/* ---- helpers ---- */

static void *helper_main(void *argument) {
  struct qzi_helper *helper = argument;
  struct qzi_recording *recording = helper->recording;
  if (helper->cpu >= 0) qzi_affinity_pin(helper->cpu);
  uint32_t seen = helper->seen;
  for (unsigned idle = 0;;) {
    uint32_t round = recording->helper_round;
    if (round == seen) {
      if (recording->helpers_stop) break;
      if (!helper->spins || ++idle > HELPER_SPINS) qzi_futex_wait(&recording->helper_round, seen);
      continue;
    }
    idle = 0;
    seen = round;
    if (recording->helpers_stop) break;
    qzi_visit(&recording->sampler, helper->first, helper->end);
    recording->helper_done++;
    if (round % 1024 == 0) helper->cpu_ns = qzi_thread_cpu_ns();
  }
  helper->cpu_ns = qzi_thread_cpu_ns();
  return NULL;
}

static void start_helpers(struct qzi_recording *recording, const struct qzi_place *place) {
  uint32_t processors = recording->view.processors;
  unsigned wanted = recording->request->threads;
  if (!wanted) wanted = 1 + (processors - 1) / 64;
  if (!recording->request->threads && wanted > place->count) wanted = place->count ? place->count : 1;
  if (wanted > processors) wanted = processors;
  if (wanted > QZI_HELPERS_MAX + 1) wanted = QZI_HELPERS_MAX + 1;
  recording->threads = 1;
  if (wanted < 2 || recording->sampler.threading->whole) return;
  recording->helpers_stop = 0;
  recording->helpers = calloc(wanted - 1, sizeof *recording->helpers);
  if (!recording->helpers) return;
  for (unsigned k = 1; k < wanted; k++) {
    struct qzi_helper *helper = &recording->helpers[k - 1];
    helper->recording = recording;
    helper->seen = recording->helper_round;
    helper->spins = place->spins;
    helper->cpu = k < place->count ? place->chosen[k] : -1;
    helper->first = (uint32_t)((uint64_t)processors * k / wanted);
    helper->end = (uint32_t)((uint64_t)processors * (k + 1) / wanted);
    if (pthread_create(&helper->thread, NULL, helper_main, helper)) {
      /* its range and the following ones are visited by the first thread, after its own */
      break;
    }
    recording->threads++;
  }
}

static void visit_all(struct qzi_recording *recording) {
  uint32_t processors = recording->view.processors;
  if (recording->threads == 1) {
    qzi_visit(&recording->sampler, 0, processors);
    return;
  }
  recording->helper_done = 0;
  recording->helper_round++;
  qzi_futex_wake(&recording->helper_round);
  const struct qzi_helper *last = &recording->helpers[recording->threads - 2];
  qzi_visit(&recording->sampler, 0, recording->helpers[0].first);
  if (last->end < processors) qzi_visit(&recording->sampler, last->end, processors);
  for (unsigned spins = 0; recording->helper_done != recording->threads - 1; spins++)
    if (spins > 1000) sched_yield();
}

static void end_helpers(struct qzi_recording *recording) {
  if (!recording->helpers) return;
  recording->helpers_stop = 1;
  recording->helper_round++;
  qzi_futex_wake(&recording->helper_round);
  for (unsigned k = 0; k + 1 < recording->threads; k++) {
    pthread_join(recording->helpers[k].thread, NULL);
    recording->helpers_cpu_ns += recording->helpers[k].cpu_ns;
  }
  free(recording->helpers);
  recording->helpers = NULL;
  recording->threads = 1;
}

static uint64_t cpu_ns_of_all(const struct qzi_recording *recording) {
  uint64_t cpu_ns = recording->helpers_cpu_ns + recording->sampler.others_cpu_ns + recording->precedence.cpu_ns;
  cpu_ns += qzi_thread_cpu_ns();
  for (unsigned k = 0; recording->helpers && k + 1 < recording->threads; k++) cpu_ns += recording->helpers[k].cpu_ns;
  return cpu_ns;
}

/* ---- the first thread ---- */

static void wake_control(struct qzi_recording *recording) {
  uint64_t one = 1;
  if (write(recording->wake_fd, &one, sizeof one) < 0) return; /* EAGAIN: a wake-up is pending already */
}

static void no_room(struct qzi_recording *recording) {
  recording->failed = recording->file.full ? QZ_END_DISK_FULL : QZ_END_ERROR;
  wake_control(recording);
}

static void want_modules(struct qzi_recording *recording) {
  recording->sampler.in.unknown_addresses = 0;
  recording->want_modules = 1;
  wake_control(recording);
}

static void store_modules(struct qzi_recording *recording) {
  struct qzi_modules *modules = __atomic_exchange_n((struct qzi_modules **)&recording->mailbox, NULL, __ATOMIC_ACQ_REL);
  if (!modules) return;
  qzi_modules_store(&recording->sampler.in, modules);
  qzi_modules_free(modules);
}

/* A processor may have been pinned to our CPU since we selected it. */
static void look_for_place(struct qzi_recording *recording) {
  struct qzi_place place;
  if (!recording->pacing.spins || recording->request->cpu >= 0) return;
  for (uint32_t p = 0; p < recording->view.processors; p++) {
    if (QZ_LOAD(&qz_session_processor(&recording->view, p)->cpu) != (uint32_t)recording->cpu) continue;
    qzi_place_find(&place, &recording->view, -1);
    if (!place.spins) return;
    recording->cpu = place.chosen[0];
    qzi_affinity_pin(recording->cpu);
    recording->file.head->sampler_cpu = (uint32_t)recording->cpu;
    return;
  }
}

static void keep_books(struct qzi_recording *recording) {
  struct qz_profile *head = recording->file.head;
  head->sampler_cpu_ns = cpu_ns_of_all(recording);
  head->skipped_ticks = recording->pacing.skipped;
  recording->timer_cost.taken = recording->sampler.timed_samples;
  qzi_recording_keep_times(recording);
  look_for_place(recording);
  qzi_totals_read(&recording->sampler);
  if (recording->sampler.in.unknown_addresses) want_modules(recording);
}

/* The memory map may have changed. Reported immediately: until it is known stack walks fail there. */
static void look_at_modules(struct qzi_recording *recording, uint64_t now_ns) {
  if (recording->mailbox && !qzi_snapshot_add_rest(&recording->sampler, now_ns)) store_modules(recording);
  uint64_t unloads = QZ_LOAD(&qz_session_head(&recording->view)->unloads);
  if (unloads == recording->sampler.in.unloads) return;
  recording->sampler.in.unloads = unloads;
  want_modules(recording);
}

/* Visits threads without processors, and objects, as far as there is time. Unused time is saved up to a limit, so
 * that all of them are visited in each of the first snapshots although every page is touched for the first time. */
static void visit_others(struct qzi_recording *recording) {
  struct qzi_sampler *sampler = &recording->sampler;
  uint64_t most_ns = recording->pacing.spins ? OTHERS_SPIN_NS : OTHERS_SLEEP_NS;
  uint64_t limit_ns = recording->pacing.interval_ns / 4;
  if (most_ns > limit_ns) most_ns = limit_ns;
  uint64_t begun_ns = qzi_clock_ns(), used_ns = 0;
  recording->others_ns += most_ns;
  if (recording->others_ns > limit_ns) recording->others_ns = limit_ns;
  uint32_t threads = qz_session_thread_high(sampler->view), objects = qz_session_object_high(sampler->view);
  qzi_growth_note(&sampler->objects_grown, objects,
                  sampler->file->head->elapsed_ns); /* the time accumulates even if there is none to visit */
  objects = objects ? objects - 1 : 0;
  int first = 1;
  while (threads || objects) {
    if (threads) threads -= qzi_threads_visit(sampler, threads < OTHERS_BATCH ? threads : OTHERS_BATCH);
    if (objects) {
      uint32_t seen = qzi_objects_visit(sampler, objects < OTHERS_BATCH ? objects : OTHERS_BATCH, first);
      objects = seen < objects ? objects - seen : 0;
    }
    first = 0;
    used_ns = qzi_clock_ns() - begun_ns;
    if (used_ns > recording->others_ns) break;
  }
  recording->others_ns -= used_ns < recording->others_ns ? used_ns : recording->others_ns;
}

/* CPU time of what has a budget of its own, independent of the number of snapshots: stack walks (call_path.c), exact
 * counts, and periodic work of snapshots. */
static uint64_t apart_ns(const struct qzi_recording *recording) {
  const struct qzi_sampler *sampler = &recording->sampler;
  return sampler->threading->apart_ns(sampler) + sampler->apart_ns;
}

static struct qzi_spent spent(const struct qzi_recording *recording) {
  return (struct qzi_spent){.clock_ns = qzi_clock_ns(),
                            .cpu_ns = qzi_thread_cpu_ns(),
                            .apart_ns = apart_ns(recording),
                            .samples_ns = recording->sampler.samples_ns,
                            .snapshots = recording->file.head->snapshots};
}

static void keep_cheap(struct qzi_recording *recording) {
  struct qzi_pacing *pacing = &recording->pacing;
  if (pacing->spins || recording->request->rate_mhz) return;
  struct qzi_spent now = spent(recording);
  uint64_t threads = recording->sampler.threading->whole ? qz_session_thread_high(&recording->view) : 0,
           base_ns = UINT64_C(1000000000000) / recording->file.head->rate_mhz,
           next_ns = qzi_budget_interval(&recording->budget, &now, base_ns, pacing->interval_ns, threads);
  if (next_ns) qzi_pacing_change(pacing, next_ns);
}

/* Waits for the next instant; now and then, says what a wake-up takes. */
static uint64_t wait_for_instant(struct qzi_recording *recording) {
  if (recording->pacing.spins || recording->file.head->snapshots % WAKES_SEEN)
    return qzi_pacing_wait(&recording->pacing, &recording->stop);
  uint64_t before_ns = qzi_thread_cpu_ns(), now_ns = qzi_pacing_wait(&recording->pacing, &recording->stop);
  qzi_budget_woke(&recording->budget, qzi_thread_cpu_ns() - before_ns);
  return now_ns;
}

static int publishing(const struct qzi_recording *recording) {
  return __atomic_load_n(&qz_session_head(&recording->view)->publishing, __ATOMIC_ACQUIRE) != 0;
}

/* The program has ended, or no longer publishes: the time since the last snapshot was part of the run, and is as the
 * last looks and the kernel's count have it. (Where the kernel does not count the threads' processor time: where the
 * last snapshot was long ago, for the machine gave the sampler no CPU.) -1: the profile is full. */
static int add_last(struct qzi_recording *recording) {
  struct qzi_sampler *sampler = &recording->sampler;
  struct qzi_pacing *pacing = &recording->pacing;
  const struct qz_usage *usage = &qz_session_head(&recording->view)->usage_end;
  uint64_t end_ns = __atomic_load_n(&usage->ns, __ATOMIC_ACQUIRE);
  uint64_t total_ns = end_ns ? usage->user_ns + usage->system_ns : 0, longer = LAST * pacing->interval_ns;
  if (!end_ns) end_ns = recording->end_ns;
  if (end_ns <= sampler->last_ns + (sampler->threading->last ? 0 : longer)) return 0;
  if (end_ns > sampler->last_ns + longer) pacing->skipped += (end_ns - sampler->last_ns) / pacing->interval_ns - 1;
  if (sampler->threading->last) sampler->threading->last(sampler, total_ns);
  visit_all(recording);
  return qzi_snapshot_add(sampler, end_ns, end_ns);
}

/* Chooses CPU, pace and number of threads for the processors that there are; starts the clock at start_ns (0: now). */
static void settle(struct qzi_recording *recording, uint64_t start_ns) {
  struct qz_profile *head = recording->file.head;
  struct qzi_place place;
  qzi_place_find(&place, &recording->view, recording->request->cpu);
  recording->cpu = place.count ? place.chosen[0] : -1;
  if (recording->cpu >= 0 && qzi_affinity_pin(recording->cpu)) recording->cpu = -1;
  qzi_own_cpu_begin(&recording->own_cpu, recording->cpu < 0);
  uint64_t rate_mhz = recording->request->rate_mhz;
  if (!rate_mhz) rate_mhz = place.spins ? SPIN_RATE_MHZ : SLEEP_RATE_MHZ;
  start_helpers(recording, &place);
  /* On a CPU that the program uses too, a wake-up that waits its turn comes late exactly when threads are ready: what
   * is ready would be underestimated. Real-time priority, where the user may have it (root, RLIMIT_RTPRIO), cures that;
   * at these rates it takes some per cent of the CPU at most. */
  int prompt = !place.spins && rate_mhz <= PROMPT_RATE_MHZ;
  if (prompt != recording->prompt && !sched_setscheduler(0, (prompt ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK,
                                                         &(struct sched_param){.sched_priority = prompt}))
    recording->prompt = prompt;
  head->rate_mhz = rate_mhz;
  head->sampler_cpu = recording->cpu >= 0 ? (uint32_t)recording->cpu : UINT32_MAX;
  head->sampler_spins = (uint32_t)place.spins;
  head->sampler_threads = recording->threads;
  recording->sampler.threading->start(&recording->sampler);
  uint64_t skipped = recording->pacing.skipped;
  qzi_pacing_start(&recording->pacing, rate_mhz, place.spins, start_ns ? start_ns : qzi_clock_ns(), 0);
  recording->others_ns = recording->pacing.interval_ns; /* as much as may be saved */
  recording->pacing.skipped = skipped;
  struct qzi_spent so_far = spent(recording);
  qzi_budget_begin(&recording->budget, &so_far, head->rank != 0);
}

/* Follows the session where qz_init has changed the number of processors. */
static void tracker(struct qzi_recording *recording, uint32_t processors) {
  struct qz_session_view *view = &recording->view;
  uint32_t before = view->processors;
  recording->asked = processors;
  if (processors == 0 || processors > view->processor_table.capacity || recording->sampler.threading->whole) return;
  end_helpers(recording);
  __atomic_store_n(&view->processors, processors, __ATOMIC_RELAXED);
  if (qzi_sampler_resize(&recording->sampler, before)) {
    __atomic_store_n(&view->processors, before, __ATOMIC_RELAXED);
    recording->file.head->invalid++;
  }
  settle(recording, recording->sampler.last_ns);
}

void *qzi_sampling_main(void *argument) {
  struct qzi_recording *recording = argument;
  struct qz_profile *head = recording->file.head;
  const struct qz_session *session = qz_session_head(&recording->view);
  int published = 0;
  prctl(PR_SET_TIMERSLACK, 1);
  recording->asked = recording->view.processors;
  settle(recording, 0);
  if (!recording->pacing.spins) qzi_precedence_begin(&recording->precedence, &recording->view, recording->pid);
  sem_post(&recording->ready);
  while (sem_wait(&recording->prepared)) {}
  store_modules(recording);
  uint64_t now_ns = qzi_clock_ns(), keep_ns = now_ns + KEEP_NS / 5, exact_ns = now_ns + EXACT_NS / 25;
  qzi_pacing_start(&recording->pacing, head->rate_mhz, recording->pacing.spins, now_ns, 0);
  head->first_ns = recording->went_on_ns ? recording->went_on_ns : recording->pacing.start_ns;
  if (!recording->went_on_ns) qzi_sampler_rebase(&recording->sampler, head->first_ns);
  while ((now_ns = wait_for_instant(recording)) != 0) {
    if (!publishing(recording) || atomic_exchange(&recording->rebase, 0)) {
      if (published && !publishing(recording)) {
        qzi_cpu_time_read(&recording->cpu_time, &recording->view, recording->pid);
        if (add_last(recording)) {
          no_room(recording);
          break;
        }
      }
      published = 0;
      qzi_sampler_rebase(&recording->sampler, now_ns); /* nothing is published: that time is not part of the run */
      qzi_pacing_next(&recording->pacing, now_ns);
      continue;
    }
    published = 1;
    uint32_t processors = QZ_LOAD(&session->processors);
    if (processors != recording->asked) tracker(recording, processors);
    visit_all(recording);
    if (qzi_snapshot_add(&recording->sampler, now_ns, qzi_pacing_covered(&recording->pacing, now_ns))) {
      no_room(recording);
      break;
    }
    visit_others(recording);
    look_at_modules(recording, now_ns);
    int keep = now_ns >= keep_ns;
    if (keep) keep_books(recording), keep_ns = now_ns + KEEP_NS;
    if (now_ns >= exact_ns) {
      uint64_t begin_ns = qzi_thread_cpu_ns();
      qzi_calls_read(&recording->sampler);
      qzi_objects_read(&recording->sampler);
      uint64_t took_ns = qzi_thread_cpu_ns() - begin_ns;
      recording->sampler.apart_ns += took_ns;
      exact_ns = now_ns + (took_ns * EXACT_COST > EXACT_NS ? took_ns * EXACT_COST : EXACT_NS);
    }
    qzi_own_cpu_look(&recording->own_cpu, &recording->sampler.used_cpus, recording->sampler.runnable, now_ns);
    qzi_pacing_next(&recording->pacing, now_ns);
    int may_rest = qzi_recording_is_beside(recording);
    if (!qzi_rest_look(&recording->rest, &recording->pacing, recording->sampler.runnable, may_rest) && keep)
      keep_cheap(recording);
  }
  if (published && !recording->failed && add_last(recording)) no_room(recording);
  recording->stop = 1;
  end_helpers(recording);
  qzi_precedence_end(&recording->precedence);
  head->skipped_ticks = recording->pacing.skipped;
  head->sampler_cpu_ns = cpu_ns_of_all(recording);
  return NULL;
}
