/* Sessions whose state the test sets, sampled at times that the test chooses: every number is known exactly. */
#include "test/support/fake_session.h"
#include "test/support/invariants.h"
#include "sampler/snapshot/snapshot.h"

#define MS UINT64_C(1000000)
enum { MAIN = 0x1000, A = 0x2000, B = 0x3000, SITE = 0x4000 };

static char path[] = "/tmp/quartz-exact-XXXXXX";
static struct fake fake;
static struct qz_session_view view;
static struct qzi_file file;
static struct qzi_sampler sampler;
static struct qz_profile_copy profile;
static uint64_t now;
static int based; /* what counted before recording began is known */

static void begin(uint32_t processors, uint32_t threads, uint64_t max_bytes) {
  const char *clause = NULL;
  char why[256];
  fake = fake_make(processors, threads, 64, 128);
  if (qz_session_open(&view, fake.fd, &clause)) {
    fprintf(stderr, "%s\n", clause);
    exit(1);
  }
  CHECK(!qzi_file_create(&file, path, &(struct qzi_replaceable){.any = 1}, max_bytes, why, sizeof why));
  now = 1000;
  based = 0;
  CHECK(!qzi_sampler_open(&sampler, &view, &file, now));
}

static void snapshots(unsigned count, uint64_t each_ns) {
  if (!based) CHECK(!qzi_sampler_base(&sampler, 1));
  based = 1;
  while (count--) {
    now += each_ns;
    CHECK(!qzi_snapshot(&sampler, now));
    CHECK(qzi_threads_visit(&sampler, 1u << 20) == fake.head->thread_high);
    qzi_objects_visit(&sampler, 1u << 20, 1);
  }
}

static void end(void) {
  char why[256];
  qzi_totals_read(&sampler);
  qzi_calls_read(&sampler);
  qzi_objects_read(&sampler);
  CHECK(!qzi_file_finish(&file, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0));
  qzi_sampler_close(&sampler);
  qzi_file_close(&file);
  qz_session_close(&view);
  fake_free(&fake);
  if (qz_profile_load(&profile, path, why, sizeof why)) {
    fprintf(stderr, "%s\n", why);
    exit(1);
  }
  check_invariants(&profile);
  CHECK(!invariant_failures);
}

/* Time of tuples that match; -1 matches all. Entity by address, or object by record. */
static uint64_t time_of(uint64_t address, int state, int busy, int self) {
  uint64_t ns = 0;
  for (size_t k = 0; k < profile.tuples_count; k++) {
    const struct qz_tuple *t = &profile.tuples[k];
    if ((state >= 0 && t->state != state) || (busy >= 0 && t->busy != busy)) continue;
    int hit = address == 0;
    for (uint32_t n = t->stack; n && !hit; n = self ? 0 : profile.stacks[n].parent)
      hit = profile.entities[profile.stacks[n].entity].address == address;
    if (hit) ns += t->ns;
  }
  return ns;
}

/* metrics.md, section 7, first row: a alone for 1 s, then b on 4 processors for 1 s. */
static void serial_then_parallel(void) {
  begin(4, 16, QZI_FILE_DEFAULT_BYTES);
  for (uint32_t t = 0; t < 5; t++) {
    fake_create(&fake, t, t + 1, t ? "worker" : NULL, t ? B : MAIN, t ? 0 : -1);
    fake_push(&fake, t, MAIN);
  }
  uint64_t join = fake_make_object(&fake, 1, QZ_KIND_JOIN, NULL, SITE);
  for (uint32_t t = 1; t < 5; t++) fake_state(&fake, t, QZ_STATE_READY, 0);
  fake_push(&fake, 0, A);
  fake_run(&fake, 0, QZ_STATE_USEFUL, 0);
  fake_processor(&fake, 0)->enqueued = 4;
  snapshots(100, 10 * MS);
  fake_pop(&fake, 0);
  fake_push(&fake, 0, join);
  fake_state(&fake, 0, QZ_STATE_BLOCKED, 1);
  fake_object(&fake, 1)->queue = 1;
  for (uint32_t p = 0; p < 4; p++) {
    fake_state(&fake, p + 1, QZ_STATE_USEFUL, 0);
    fake_push(&fake, p + 1, B);
    fake_run(&fake, p, QZ_STATE_USEFUL, (int)p + 1);
    fake_processor(&fake, p)->dequeued = 1;
  }
  fake_call(&fake, 0, 0x1010, A, 1);
  fake_call(&fake, 1, 0x1020, B, 3);
  fake_call(&fake, 2, 0x1020, B, 1);
  snapshots(50, 20 * MS);
  end();
  CHECK(profile.head.elapsed_ns == 2000 * MS && profile.head.snapshots == 150 && profile.head.visits == 600);
  CHECK(time_of(A, QZ_STATE_USEFUL, 1, 0) == 1000 * MS && time_of(A, -1, -1, 0) == 1000 * MS);
  CHECK(time_of(B, QZ_STATE_USEFUL, 4, 0) == 4000 * MS);
  CHECK(time_of(MAIN, QZ_STATE_USEFUL, -1, 0) == 5000 * MS);
  CHECK(time_of(0, QZ_STATE_READY, -1, 0) == 4000 * MS);
  CHECK(time_of(SITE, QZ_STATE_BLOCKED, -1, 1) == 1000 * MS);
  uint64_t waiting = 0, runnable_ns = 0;
  for (size_t k = 0; k < profile.tuples_count; k++) {
    if (profile.tuples[k].waiting) waiting += profile.tuples[k].ns;
    if (profile.tuples[k].state == QZ_STATE_USEFUL && profile.tuples[k].busy == 1) {
      CHECK(profile.tuples[k].runnable == 5);
      runnable_ns += profile.tuples[k].runnable_ns;
    }
  }
  CHECK(waiting == 1000 * MS && runnable_ns == 5000 * MS);
  CHECK(profile.objects_count == 1 && profile.objects[0].queue_length_ns == 1000 * MS);
  CHECK(profile.objects[0].observed_ns == 2000 * MS && profile.objects[0].queue_ns[1] == 1000 * MS);
  CHECK(profile.calls_count == 2);
  for (size_t k = 0; k < 2; k++) CHECK(profile.calls[k].count == (profile.calls[k].site == 0x1010 ? 1 : 4));
  CHECK(profile.threads_count == 5);
  for (size_t k = 0; k < 5; k++) {
    const struct qz_thread_stats *t = &profile.threads[k];
    const struct qz_entity *e = &profile.entities[t->entity];
    CHECK(e->kind == QZ_ENTITY_THREAD && e->record + 1 == t->serial);
    CHECK(!strcmp(qz_profile_string(&profile, e->name), t->serial == 1 ? "" : "worker"));
    CHECK((t->creator != 0) == (t->serial != 1) && (!t->creator || profile.entities[t->creator].record == 0));
  }
  qz_profile_unload(&profile);
}

/* Rows 3 and 4: one lock, passed around by 4 threads; the others block, or spin. The holder gets the blame. */
static void one_lock(int spinning) {
  begin(4, 16, QZI_FILE_DEFAULT_BYTES);
  uint64_t lock = fake_make_object(&fake, 3, QZ_KIND_MUTEX, "lock", SITE);
  for (uint32_t t = 0; t < 4; t++) {
    fake_create(&fake, t, t + 1, NULL, B, -1);
    fake_push(&fake, t, MAIN);
    fake_push(&fake, t, lock);
  }
  snapshots(0, 0);
  for (unsigned round = 0; round < 100; round++) {
    uint32_t holder = round % 4;
    for (uint32_t t = 0; t < 4; t++) {
      fake_state(&fake, t,
                 t == holder ? QZ_STATE_USEFUL
                 : spinning  ? QZ_STATE_SPINNING
                             : QZ_STATE_BLOCKED,
                 t == holder ? 0 : 3);
      if (t == holder || spinning)
        fake_run(&fake, t, t == holder ? QZ_STATE_USEFUL : QZ_STATE_SPINNING, (int)t);
      else
        fake_run(&fake, t, QZ_STATE_IDLE, -1);
    }
    fake_push(&fake, holder, A);
    fake_object(&fake, 3)->owner = holder + 1;
    fake_object(&fake, 3)->queue = spinning ? 0 : 3;
    fake_object(&fake, 3)->acquisitions++;
    fake_object(&fake, 3)->contended++;
    fake_object(&fake, 3)->wait_ns += 30 * MS;
    snapshots(1, 10 * MS);
    fake_pop(&fake, holder);
  }
  end();
  CHECK(profile.head.elapsed_ns == 1000 * MS);
  CHECK(time_of(A, QZ_STATE_USEFUL, 1, 1) == 1000 * MS && time_of(SITE, QZ_STATE_USEFUL, 1, 0) == 1000 * MS);
  CHECK(time_of(SITE, spinning ? QZ_STATE_SPINNING : QZ_STATE_BLOCKED, -1, 1) == 3000 * MS);
  CHECK(profile.objects_count == 1 && profile.objects[0].queue_ns[3] == 1000 * MS);
  CHECK(profile.objects[0].queue_length_ns == 3000 * MS && profile.objects[0].acquisitions == 100);
  CHECK(profile.objects[0].wait_ns == 3000 * MS);
  uint64_t blame = 0;
  for (size_t k = 0; k < profile.blame_count; k++) {
    const struct qz_blame *b = &profile.blame[k];
    CHECK(b->object == profile.objects[0].entity && b->thread && b->stack);
    CHECK(profile.entities[profile.stacks[b->stack].entity].address == A && b->ns == 750 * MS && b->count == 25);
    blame += b->ns;
  }
  CHECK(blame == 3000 * MS && profile.blame_count == 4);
  CHECK(profile.wait_overlap_count == 4); /* who ran while they waited: each holder */
  for (size_t k = 0; k < profile.wait_overlap_count; k++) {
    const struct qz_wait_overlap *m = &profile.wait_overlap[k];
    CHECK(m->object == profile.objects[0].entity && m->count == 25 && m->ns == 250 * MS && m->waiters_ns == 750 * MS);
    CHECK(profile.entities[profile.stacks[m->stack].entity].address == A && m->thread);
  }
  CHECK(profile.balance_count == 1 && profile.balance[0].spinning == (spinning ? 3 : 0));
  qz_profile_unload(&profile);
}

/* Overhead for a thread and for none, more ready threads than r counts exactly, and a gap that is left out. */
static void states(void) {
  begin(3, 16, QZI_FILE_DEFAULT_BYTES);
  fake_create(&fake, 0, 1, "one", MAIN, -1);
  fake_push(&fake, 0, MAIN);
  fake_create(&fake, 1, 2, "two", MAIN, -1);
  fake_state(&fake, 1, QZ_STATE_IO, 0);
  fake_run(&fake, 0, QZ_STATE_OVERHEAD, 0);
  fake_run(&fake, 1, QZ_STATE_OVERHEAD, -1);
  fake_processor(&fake, 0)->enqueued = 10;
  fake_processor(&fake, 2)->dequeued = 3;
  snapshots(10, MS);
  now += 5000 * MS;
  qzi_sampler_rebase(&sampler, now);
  snapshots(10, MS);
  end();
  CHECK(profile.head.elapsed_ns == 20 * MS && profile.balance_count == 1);
  CHECK(profile.balance[0].busy == 2 && profile.balance[0].overhead_ns == 40 * MS && profile.balance[0].runnable == 8);
  CHECK(time_of(MAIN, QZ_STATE_OVERHEAD, 2, 1) == 20 * MS && time_of(0, QZ_STATE_OVERHEAD, 2, 0) == 40 * MS);
  CHECK(time_of(0, QZ_STATE_IO, -1, 0) == 20 * MS);
  CHECK(profile.processors[0].overhead_ns == 20 * MS && profile.processors[2].idle_ns == 20 * MS);
  qz_profile_unload(&profile);
}

/* The package's work by purpose; all of it is overhead. */
static void overhead_by_kind(void) {
  static const unsigned states[] = {QZ_STATE_OVERHEAD, QZ_STATE_MAKING, QZ_STATE_WAKING};
  static const uint8_t kinds[] = {QZ_KERNEL_NONE, QZ_KERNEL_THREAD, QZ_KERNEL_LOCK};
  begin(1, 16, QZI_FILE_DEFAULT_BYTES);
  fake_create(&fake, 0, 1, "one", MAIN, -1);
  fake_push(&fake, 0, MAIN);
  for (unsigned k = 0; k < 3; k++) {
    fake_run(&fake, 0, states[k], 0);
    snapshots(10, MS);
  }
  end();
  CHECK(time_of(MAIN, QZ_STATE_OVERHEAD, 1, 1) == 30 * MS && profile.head.invalid == 0);
  for (unsigned k = 0; k < 3; k++) {
    double ns = 0;
    for (uint64_t t = 0; t < profile.tuples_count; t++)
      if (profile.tuples[t].state == QZ_STATE_OVERHEAD && profile.tuples[t].kernel == kinds[k])
        ns += profile.tuples[t].ns;
    CHECK(ns == 10 * MS);
  }
  qz_profile_unload(&profile);
}

/* Invalid contents of the session are counted and left out; the rest remains correct. */
static void nonsense(void) {
  begin(4, 16, QZI_FILE_DEFAULT_BYTES);
  fake_create(&fake, 0, 1, NULL, MAIN, -1);
  fake_push(&fake, 0, MAIN);
  fake_push(&fake, 0, QZ_KEY(QZ_KIND_MUTEX, 9)); /* no such object */
  fake_push(&fake, 0, QZ_KEY(QZ_KIND_MUTEX, 0xffffffff));
  fake_push(&fake, 0, 0);
  fake_push(&fake, 0, A);
  fake_run(&fake, 0, QZ_STATE_USEFUL, 0);
  fake_run(&fake, 1, QZ_STATE_USEFUL, 4000000); /* no such thread */
  fake_run(&fake, 2, 15, 0);                    /* no such state */
  fake_create(&fake, 1, 2, NULL, MAIN, -1);
  fake_thread(&fake, 1)->word = 65535; /* no such depth */
  fake_run(&fake, 3, QZ_STATE_USEFUL, 1);
  fake_processor(&fake, 1)->enqueued = UINT64_C(1) << 40;
  struct qz_object *object = fake_object(&fake, 2);
  fake_make_object(&fake, 2, QZ_KIND_MUTEX, NULL, SITE);
  object->name = 0xfffffff0;
  object->queue = UINT32_MAX;
  object->owner = UINT32_MAX;
  fake.head->thread_high = UINT32_MAX;
  now += MS;
  CHECK(!qzi_snapshot(&sampler, now));
  CHECK(qzi_threads_visit(&sampler, 1u << 20) == 16);
  qzi_objects_visit(&sampler, 1u << 20, 1);
  end();
  CHECK(profile.head.invalid >= 7);
  CHECK(time_of(A, QZ_STATE_USEFUL, 3, 1) == MS && time_of(MAIN, QZ_STATE_USEFUL, 3, 0) == MS);
  CHECK(time_of(0, QZ_STATE_USEFUL, 3, 0) == 3 * MS);
  qz_profile_unload(&profile);
}

/* What does not fit into a small file is merged, and the sums remain correct. */
static void small_file(void) {
  begin(2, 64, QZI_FILE_MIN_BYTES);
  fake_create(&fake, 0, 1, NULL, MAIN, -1);
  fake_run(&fake, 0, QZ_STATE_USEFUL, 0);
  for (unsigned k = 0; k < 30000; k++) {
    uint32_t depth = 1 + k % 5;
    for (uint32_t d = 0; d < depth; d++) fake_push(&fake, 0, 0x10000 + 16 * ((k * 7 + d * 31) % 3000));
    fake_processor(&fake, 0)->enqueued = k % 17;
    now += 1000;
    CHECK(!qzi_snapshot(&sampler, now));
    for (uint32_t d = 0; d < depth; d++) fake_pop(&fake, 0);
  }
  end();
  CHECK(profile.head.snapshots == 30000 && profile.head.tuples_merged > 0 && profile.head.stacks_cut > 0);
  CHECK(time_of(0, QZ_STATE_USEFUL, 1, 0) == 30000000);
  qz_profile_unload(&profile);
}

/* More short-lived threads than get entities of their own; records used again. */
static void many_threads(void) {
  begin(2, 64, QZI_FILE_DEFAULT_BYTES);
  for (unsigned k = 0; k < QZI_GROUP_THREADS + 500; k++) {
    fake_thread(&fake, k % 8)->serial = 0;
    fake_create(&fake, k % 8, k + 1, NULL, B, -1);
    fake_push(&fake, k % 8, B);
    fake_run(&fake, 0, QZ_STATE_USEFUL, (int)(k % 8));
    now += 1000;
    CHECK(!qzi_snapshot(&sampler, now));
  }
  end();
  CHECK(profile.head.entities_merged == 500 && profile.threads_count == QZI_GROUP_THREADS + 1);
  uint64_t instances = 0;
  for (size_t k = 1; k < profile.entities_count; k++)
    if (profile.entities[k].kind == QZ_ENTITY_THREAD) instances += profile.entities[k].instances;
  CHECK(instances == QZI_GROUP_THREADS + 500);
  qz_profile_unload(&profile);
}

/* The timeline joins its stretches as the run grows. */
static void long_run(void) {
  begin(2, 16, QZI_FILE_DEFAULT_BYTES);
  fake_create(&fake, 0, 1, NULL, MAIN, -1);
  fake_push(&fake, 0, A);
  fake_run(&fake, 0, QZ_STATE_USEFUL, 0);
  for (unsigned k = 0; k < 20000; k++) {
    if (k == 15000) {
      fake_pop(&fake, 0);
      fake_push(&fake, 0, B);
    }
    now += MS + k % 7;
    CHECK(!qzi_snapshot(&sampler, now));
  }
  end();
  CHECK(profile.timeline_count > 500 && profile.timeline_count <= 2048);
  CHECK(profile.entities[profile.timeline[0].top].address == A);
  CHECK(profile.entities[profile.timeline[profile.timeline_count - 1].top].address == B);
  qz_profile_unload(&profile);
}

/* Events counted before recording began are left out. */
static void attached(void) {
  begin(2, 16, QZI_FILE_DEFAULT_BYTES);
  fake_make_object(&fake, 1, QZ_KIND_MUTEX, "old", SITE);
  fake_object(&fake, 1)->acquisitions = 1000;
  fake_object(&fake, 1)->wait_hist[3] = 7;
  fake_call(&fake, 0, 0x1010, A, 77);
  fake_processor(&fake, 1)->spawns = 5;
  snapshots(1, MS);
  fake_object(&fake, 1)->acquisitions += 3;
  fake_object(&fake, 1)->wait_hist[3] += 2;
  fake_call(&fake, 0, 0x1010, A, 1);
  fake_processor(&fake, 1)->spawns += 2;
  end();
  CHECK(profile.objects[0].acquisitions == 3 && profile.objects[0].wait_hist[3] == 2);
  CHECK(profile.calls_count == 1 && profile.calls[0].count == 1 && profile.head.spawns == 2);
  qz_profile_unload(&profile);
}

int main(void) {
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  serial_then_parallel();
  one_lock(0);
  one_lock(1);
  states();
  overhead_by_kind();
  nonsense();
  small_file();
  many_threads();
  long_run();
  attached();
  unlink(path);
  return 0;
}
