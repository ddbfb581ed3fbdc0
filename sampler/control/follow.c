/* Wrappers and what they start. See follow.h. */
#include "follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "finisher.h"
#include "sampler/util/clock.h"
#include "sampler/util/numbers.h"

#define PART      20u                 /* 1 / 20 of all processor time: a process that used less changes no conclusion */
#define LEAST_NS  UINT64_C(50000000)  /* below this the kernel's clock ticks are too coarse */
#define START_NS  UINT64_C(100000000) /* maximum processor time of an interpreter that is a wrapper, */
#define TIMES     4u                  /* provided that its child used this many times as much, */
#define WORK_NS   UINT64_C(10000000)  /* and at least this much */
#define LEFT      4u                  /* a worker lives for all but 1 / 4 of the run (a server's: since it began) */
#define NAMED     4u                  /* maximum number of other profiles that are named */
#define IDLE_MOST 16u /* recorded processes that did almost nothing, at most (recording one takes 20 ms), */
#define EACH_NS   UINT64_C(2000000000) /* plus one for each interval of this length, which limits the cost to 1 % */

/* A process that has ended. */
struct held {
  struct qzi_target *target;
  uint32_t reason;
  int32_t status;
  uint64_t used_ns; /* processor time */
};

static struct {
  int begun;
  const char *program;
  pid_t launched;
  struct held itself; /* target NULL: it has no profile, or one that is finished already (because the disk was full) */
  struct held followed[PART]; /* at most 20 processes can have used a twentieth each */
  unsigned count;
  uint64_t dropped_ns; /* processor time of processes that are not in the array */
  uint64_t begun_ns;
  unsigned idle;      /* number of followed processes that have ended and did almost nothing */
  unsigned missed;    /* number of followed processes that were not recorded because the sampler had no CPU */
  pid_t first_missed; /* one of them */
  pid_t named;        /* the process whose profile was last reported to the front end; 0: the launched program */
} all;

void qzi_follow_begin(const char *program, pid_t launched) {
  all.begun = 1;
  all.program = program;
  all.launched = launched;
  all.begun_ns = qzi_clock_ns();
}

int qzi_follow_has_room(void) { return all.idle < IDLE_MOST + (qzi_clock_ns() - all.begun_ns) / EACH_NS; }

/* The most threads that it had at a time, those included that had ended before its recording began. */
static uint64_t threads_of(const struct qzi_target *target) { return qz_session_thread_high(&target->recording.view); }

/* Returns 1 if the process that used `own_ns` only started the other one, which used `its_ns`. */
static int only_started(const struct qzi_target *itself, uint64_t own_ns, const struct qzi_target *most,
                        uint64_t its_ns) {
  if (most->ranked && own_ns < its_ns) return 1; /* a launcher of ranks may take long before they begin */
  if (own_ns > START_NS) return 0;
  if (most->ranked || (its_ns > WORK_NS && own_ns * TIMES < its_ns)) return 1;
  return threads_of(itself) <= 1 && threads_of(most) > 1; /* threads that only wait use almost no processor time */
}

/* The threads that it has, or had at its end; at least 1. */
static uint64_t threads_left(const struct qzi_target *target) {
  const struct qz_session_view *view = &target->recording.view;
  uint64_t count = 0;
  for (uint32_t k = 0; k < qz_session_thread_high(view); k++)
    count += QZ_LOAD(&qz_session_thread(view, k)->os_tid) != 0;
  return count ? count : 1;
}

/* For how long it lived before its recording ended: since it began to publish, for its recording may begin later. */
static uint64_t lived_ns(const struct qzi_target *target) {
  const struct qz_profile *its = target->recording.file.head;
  uint64_t begun_ns = qz_session_head(&target->recording.view)->start_ns;
  return its->elapsed_ns + (begun_ns && begun_ns < its->first_ns ? its->first_ns - begun_ns : 0);
}

/* For how long its threads waited for CPUs, on average. */
static uint64_t waited_ns(const struct qzi_target *target) {
  return target->recording.cpu_time.wait_ns / threads_left(target);
}

static int is_most(uint64_t part_ns, uint64_t of_ns) { return part_ns >= of_ns - of_ns / LEFT; }

/* Returns 1 if the process that used `own_ns` hardly worked since it started the other one, which used `its_ns`, and
 * what it did alone before was a small part of the run, or the start of a server, whose workers answer; also if that is
 * so without the time for which either waited for CPUs: these depend on what else runs on the machine. */
static int only_waited(const struct qzi_target *itself, uint64_t own_ns, const struct qzi_target *most,
                       uint64_t its_ns) {
  const struct qz_profile *own = itself->recording.file.head, *its = most->recording.file.head;
  uint64_t before_ns = most->launched_ns - 1, life_ns = lived_ns(most), of_ns = own->elapsed_ns;
  uint64_t idle_ns = waited_ns(most), others_ns = idle_ns + waited_ns(itself);
  if (!most->launched_ns || its_ns < WORK_NS || (own_ns > before_ns && (own_ns - before_ns) * TIMES >= its_ns))
    return 0;
  if ((itself->recording.sockets.found | most->recording.sockets.found) & QZ_SOCKETS_LISTENS) {
    uint64_t end_ns = own->first_ns + own->elapsed_ns, began_ns = its->first_ns + its->elapsed_ns - life_ns;
    of_ns = end_ns > began_ns ? end_ns - began_ns : 0;
  }
  return is_most(life_ns, of_ns) ||
         (of_ns > others_ns && life_ns > idle_ns && is_most(life_ns - idle_ns, of_ns - others_ns));
}

void qzi_follow_passed(uint64_t used_ns) {
  all.idle++;
  all.dropped_ns += used_ns;
}

void qzi_follow_missed(pid_t pid) {
  if (!all.missed++) all.first_missed = pid;
}

/* Notes for each process whose recording has just begun how much the launched one had used by then. */
static void note_launched(struct qzi_target *itself) {
  for (unsigned k = 0; itself && k < qzi_target_count; k++) {
    struct qzi_target *one = qzi_targets[k];
    if (one == itself || one->launched_ns) continue;
    qzi_cpu_time_read(&itself->recording.cpu_time, &itself->recording.view, itself->pid);
    one->launched_ns = 1 + itself->recording.cpu_time.run_ns;
  }
}

void qzi_follow_look(void) {
  struct qzi_target *itself = NULL;
  const struct qzi_target *most = NULL;
  for (unsigned k = 0; all.begun && k < qzi_target_count; k++) {
    struct qzi_target *one = qzi_targets[k];
    if (one->pid == all.launched)
      itself = one;
    else if (!most || one->recording.cpu_time.run_ns > most->recording.cpu_time.run_ns)
      most = one;
  }
  note_launched(itself);
  if (!itself || itself->message_fd < 0 || !most || most->pid == all.named) return;
  uint64_t own_ns = itself->recording.cpu_time.run_ns, its_ns = most->recording.cpu_time.run_ns;
  if (own_ns * PART >= its_ns && !only_started(itself, own_ns, most, its_ns) &&
      !only_waited(itself, own_ns, most, its_ns))
    return;
  dprintf(itself->message_fd, "%s\n", most->recording.file.path);
  all.named = most->pid;
}

/* Returns 1 if the process reported its processor time at its end. A process that is killed by a signal does not. */
static int is_complete(const struct qzi_target *target) {
  return (target->recording.file.head->usage_known & QZ_USAGE_SWITCHES) != 0;
}

/* The processor time that snapshots have observed. */
static uint64_t seen_ns(const struct qzi_file *file) {
  uint64_t sum_ns = 0;
  for (uint64_t k = 0; k < qzi_file_count(file, QZ_SECTION_PROCESSORS); k++) {
    const struct qz_processor_stats *its = &file->processors[k];
    sum_ns += its->useful_ns + its->overhead_ns + its->spinning_ns;
  }
  return sum_ns;
}

/* The best known value. The kernel cannot be asked for processes that have ended, but these have reported their
 * usage, except those killed by a signal, for which the last value counts. The launched process's report may include
 * its children. */
static uint64_t used_by(const struct qzi_target *target) {
  const struct qz_profile *head = target->recording.file.head;
  uint64_t said_ns = head->usage.user_ns + head->usage.system_ns, used_ns = head->cpu_run_ns;
  if (target->pid == all.launched) return used_ns ? used_ns : said_ns;
  if (used_ns < said_ns) used_ns = said_ns;
  uint64_t sampled_ns = is_complete(target) ? 0 : seen_ns(&target->recording.file);
  return used_ns > sampled_ns ? used_ns : sampled_ns;
}

static void drop(const struct held *held) {
  all.dropped_ns += held->used_ns;
  qzi_discard(held->target);
}

int qzi_follow_hold(struct qzi_target *target, uint32_t reason, int32_t status) {
  int itself = target->pid == all.launched;
  if (!all.begun || (itself && (reason == QZ_END_EXEC || target->recording.failed))) return 0;
  struct held held = {target, reason, status, used_by(target)};
  if (itself) {
    all.itself = held;
    return 1;
  }
  all.idle += reason != QZ_END_EXEC && !target->ranked && held.used_ns < LEAST_NS;
  if (reason == QZ_END_EXEC && held.used_ns < LEAST_NS) { /* forked only to execute another program */
    drop(&held);
    return 1;
  }
  struct held *least = &held;
  if (all.count == PART)
    for (unsigned k = 0; k < PART; k++)
      if (all.followed[k].used_ns < least->used_ns) least = &all.followed[k];
  if (target->recording.file.head->snapshots == 0 || (all.count == PART && least == &held)) {
    drop(&held);
  } else if (all.count == PART) {
    drop(least);
    *least = held;
  } else {
    all.followed[all.count++] = held;
  }
  return 1;
}

/* Of a process that a signal ended, the time since the kernel was last asked is not known. If the launched program
 * waited for it, that time is among the `unrecorded_ns` of its children, which are divided equally among such
 * processes, but each cannot have used more than all CPUs for as long as it was recorded. Returns the sum. */
static uint64_t credit_ended_by_signal(uint64_t unrecorded_ns) {
  uint64_t credited_ns = 0;
  unsigned count = 0;
  for (unsigned k = 0; k < all.count; k++) count += !is_complete(all.followed[k].target);
  if (!count) return 0;
  for (unsigned k = 0; k < all.count; k++) {
    struct held *its = &all.followed[k];
    const struct qz_profile *head = its->target->recording.file.head;
    uint64_t most_ns = head->elapsed_ns * head->cpus, part_ns = unrecorded_ns / count;
    if (is_complete(its->target) || its->used_ns >= most_ns) continue;
    if (part_ns > most_ns - its->used_ns) part_ns = most_ns - its->used_ns;
    its->used_ns += part_ns;
    credited_ns += part_ns;
  }
  return credited_ns;
}

/* ---- the decision ---- */

static int by_time(const void *left, const void *right) {
  uint64_t a = ((const struct held *)left)->used_ns, b = ((const struct held *)right)->used_ns;
  return a < b ? 1 : a > b ? -1 : 0;
}

/* Returns 1 if the launched program only started the processes that did the work, above all `most`. of_ns: total
 * processor time. */
static int is_wrapper(const struct held *itself, const struct held *most, uint64_t of_ns) {
  if (most->used_ns * PART < of_ns) return 0; /* most of the work is not recorded */
  if (only_waited(itself->target, itself->used_ns, most->target, most->used_ns)) return 1;
  if (most->target->forked && most->used_ns < LEAST_NS) return 0; /* it forks for small pieces of work */
  if (itself->used_ns * PART < of_ns) return 1;
  /* A launcher of ranks may take longer than each of them. */
  if (most->target->ranked && itself->used_ns < of_ns - itself->used_ns) return 1;
  return only_started(itself->target, itself->used_ns, most->target, most->used_ns);
}

/* Removes the wrapper's profile and gives this one its name, unless it was given a name of its own (%p, a rank). */
static void take_place(struct qzi_target *worker, struct qzi_target *wrapper) {
  char **name = &worker->recording.file.path, **place = &wrapper->recording.file.path;
  worker->message_fd = wrapper->message_fd;
  if (worker->numbered && !rename(*name, *place)) {
    char *aside = *name;
    *name = *place;
    *place = aside; /* a path at which there is no file */
  }
  qzi_discard(wrapper);
  if (worker->message_fd >= 0) dprintf(worker->message_fd, "%s\n", *name);
}

/* Notes the processor time that other processes used while this one was recorded: for each, in proportion to the
 * time that both existed. */
static void note_related(const struct held *all_held[], unsigned count) {
  for (unsigned k = 0; k < count; k++) {
    struct qz_profile *its = all_held[k]->target->recording.file.head;
    double related_ns = 0;
    for (unsigned n = 0; n < count; n++) {
      const struct qz_profile *other = all_held[n]->target->recording.file.head;
      uint64_t begin_ns = its->first_ns > other->first_ns ? its->first_ns : other->first_ns,
               end_ns = its->first_ns + its->elapsed_ns, other_end_ns = other->first_ns + other->elapsed_ns;
      if (end_ns > other_end_ns) end_ns = other_end_ns;
      if (n == k || end_ns <= begin_ns) continue;
      related_ns += (double)all_held[n]->used_ns * ((double)(end_ns - begin_ns) / (double)other->elapsed_ns);
    }
    if (!its->elapsed_ns) continue;
    /* An upper bound, because they may have worked at another time: no more CPUs were available than this process
     * left. */
    double left_ns = (double)its->cpus * (double)its->elapsed_ns - (double)all_held[k]->used_ns;
    if (related_ns > left_ns) related_ns = left_ns > 0 ? left_ns : 0;
    its->related_milli = (uint32_t)(1000 * related_ns / (double)its->elapsed_ns);
  }
}

/* Writes the names of the first few other profiles to `text`. */
static void name_others(char *text, size_t bytes, const char *begin, const struct held *others, unsigned count) {
  size_t used = 0;
  *text = 0;
  for (unsigned k = 0; k < count && k < NAMED && used < bytes; k++)
    used +=
      (size_t)snprintf(text + used, bytes - used, "%s%s", k ? ", " : begin, others[k].target->recording.file.path);
  if (count > NAMED && used < bytes) snprintf(text + used, bytes - used, ", and %u more", count - NAMED);
}

static void report_missed(void) {
  char more[40] = "";
  if (!all.missed || !all.begun) return;
  if (all.missed > 1) snprintf(more, sizeof more, " and %u more", all.missed - 1);
  fprintf(
    stderr,
    "quartz: process %ld%s, which %s started, ended before the sampler had a CPU to record it: other programs had "
    "the CPUs\n",
    (long)all.first_missed, more, all.program);
  all.missed = 0;
}

static void finish(struct held *held) {
  qzi_summarize(held->target);
  qzi_finish_later(held->target, held->reason, held->status);
}

void qzi_follow_settle(void) {
  struct held *itself = all.itself.target ? &all.itself : NULL, *most = all.followed;
  uint64_t recorded_ns = all.dropped_ns, unrecorded_ns = 0, of_ns;
  char others[1200], missing[120] = "", time[QZI_NUMBER];
  int complete = 1;
  for (unsigned k = 0; k < all.count; k++) {
    recorded_ns += all.followed[k].used_ns;
    complete &= is_complete(all.followed[k].target);
  }
  if (itself && itself->target->recording.file.head->children_run_ns > recorded_ns) {
    unrecorded_ns = itself->target->recording.file.head->children_run_ns - recorded_ns;
    uint64_t credited_ns = credit_ended_by_signal(unrecorded_ns);
    recorded_ns += credited_ns;
    unrecorded_ns -= credited_ns;
  }
  qsort(all.followed, all.count, sizeof *all.followed, by_time);
  const struct held *related[PART + 1];
  unsigned related_count = 0;
  for (unsigned k = 0; k < all.count; k++) related[related_count++] = &all.followed[k];
  if (itself) related[related_count++] = itself;
  note_related(related, related_count);
  of_ns = recorded_ns + unrecorded_ns + (itself ? itself->used_ns : 0);
  int wrapper = itself && all.count && is_wrapper(itself, most, of_ns);
  unsigned kept = (unsigned)wrapper;
  while (kept < all.count && all.followed[kept].used_ns > LEAST_NS && all.followed[kept].used_ns * PART > of_ns) kept++;
  for (unsigned k = kept; k < all.count; k++) qzi_discard(all.followed[k].target);
  if (complete && unrecorded_ns > LEAST_NS && unrecorded_ns * PART > of_ns)
    snprintf(missing, sizeof missing, "; %s of processor time went into processes that are not recorded",
             qzi_time_text(time, unrecorded_ns));
  if (wrapper) {
    take_place(most->target, itself->target);
    name_others(others, sizeof others, "; also recorded: ", most + 1, kept - 1);
    fprintf(stderr,
            "quartz: %s only started the program that did the work: the profile is that of %s (process %ld), in "
            "%s%s%s%s\n",
            all.program, most->target->program, (long)most->target->pid, most->target->recording.file.path, others,
            missing, *others || *missing ? "; one report over all of them: quartz run --tree" : "");
  } else {
    if (kept) {
      name_others(others, sizeof others, "", most, kept);
      fprintf(stderr, "quartz: programs that %s started first were recorded, too: %s%s\n", all.program, others,
              missing);
    }
    if (itself) {
      const struct qzi_recording *its = &itself->target->recording;
      its->file.head->children_apart = kept > 0;
      if (all.named && itself->target->message_fd >= 0) dprintf(itself->target->message_fd, "%s\n", its->file.path);
      finish(itself);
    }
  }
  report_missed();
  for (unsigned k = 0; k < kept; k++) finish(&all.followed[k]);
  all.itself.target = NULL;
  all.count = 0;
  all.dropped_ns = 0;
}
