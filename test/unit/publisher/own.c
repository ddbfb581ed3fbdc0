/* What a program publishes about itself, with all of the thread package: own CASE. It attaches to its own session. With
 * QUARTZ_PROCESSORS=1 threads reach a known state when main yields to them. */
#define _GNU_SOURCE
#include "own_stack.h"

static qz_sem gates[3];
static void at_gate(void *gate) { qz_sem_wait(gate); }
static void *thread_at_gate(void *gate) {
  at_gate(gate);
  return NULL;
}
static void make_gates(void) {
  for (int k = 0; k < 3; k++) CHECK(qz_sem_init(&gates[k], NULL, 0) == 0);
}

/* The only join record: all threads here join or sync at one place. */
static const struct qz_object *join_record(void) {
  const struct qz_object *found = NULL;
  for (uint32_t k = 1; k < qz_session_object_high(&view); k++) {
    const struct qz_object *o = qz_session_object(&view, k);
    if (o->kind == QZ_KIND_JOIN && o->queue) {
      CHECK(!found);
      found = o;
    }
  }
  CHECK(found);
  return found;
}

/* ---- awaited: a thread that waits for a join says for whom ---- */

static void *joins(void *thread) {
  CHECK(qz_join(*(qz_thread_t *)thread, NULL) == 0);
  return NULL;
}
static void *syncs(void *unused) {
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn_named(&scope, "first", at_gate, &gates[1]);
  qz_spawn_named(&scope, "second", at_gate, &gates[2]);
  qz_yield(); /* they run on stacks of their own, and wait */
  qz_sync(&scope);
  return unused;
}
static void awaited(void) {
  make_gates();
  qz_thread_t worker, joiner;
  CHECK(qz_create(&worker, "worker", thread_at_gate, &gates[0]) == 0);
  let_them();
  CHECK(qz_create(&joiner, "joiner", joins, &worker) == 0);
  let_them();
  const struct qz_object *join = join_record();
  CHECK(join->owner == thread_index("worker") + 1);
  qz_sem_post(&gates[0]);
  qz_join(joiner, NULL);
  CHECK(join->owner == 0 && join->queue == 0);

  CHECK(qz_create(&joiner, "syncing", syncs, NULL) == 0);
  let_them();
  join = join_record();
  uint32_t first = thread_index("first"), second = thread_index("second");
  CHECK(join->owner == first + 1 || join->owner == second + 1);
  qz_sem_post(&gates[2]);
  let_them();
  CHECK(join->owner == first + 1); /* the one that is left */
  qz_sem_post(&gates[1]);
  qz_join(joiner, NULL);
  CHECK(join->owner == 0 && join->queue == 0);
}

/* ---- records of objects, QUARTZ_MAX_OBJECTS=256 ---- */

static void init_here(qz_mutex *mutex) { CHECK(qz_mutex_init(mutex, "many", QZ_ADAPTIVE) == 0); }

static void records(void) {
  enum { TURNS = 10000, MANY = 2000 };
  static qz_mutex mutexes[MANY];
  for (int k = 0; k < TURNS; k++) { /* one after the other: one record */
    init_here(&mutexes[0]);
    CHECK(qz_mutex_lock(&mutexes[0]) == 0 && qz_mutex_unlock(&mutexes[0]) == 0 && qz_mutex_destroy(&mutexes[0]) == 0);
  }
  const struct qz_object *o = object("many", QZ_KIND_MUTEX);
  CHECK(o->instances == TURNS && o->acquisitions == TURNS && qz_session_object_high(&view) < 20);
  for (int k = 0; k < MANY; k++) { /* all at once, more than there are records: the last ones share */
    init_here(&mutexes[k]);
    for (int turn = 0; turn < 3; turn++) CHECK(qz_mutex_lock(&mutexes[k]) == 0 && qz_mutex_unlock(&mutexes[k]) == 0);
  }
  uint64_t acquisitions = 0;
  for (uint32_t k = 1; k < qz_session_object_high(&view); k++) {
    o = qz_session_object(&view, k);
    if (o->kind == QZ_KIND_MUTEX) acquisitions += o->acquisitions;
  }
  CHECK(acquisitions == TURNS + 3 * MANY);
  CHECK(qz_session_object_high(&view) <= 256);
  CHECK(qz_session_head(&view)->objects_merged >= MANY - 256);
  for (int k = 0; k < MANY; k++) CHECK(qz_mutex_destroy(&mutexes[k]) == 0);
}

/* ---- hold times, QUARTZ_EXACT_HOLD=1 ---- */

static void hold(void) {
  static qz_mutex mutex;
  CHECK(qz_session_head(&view)->flags & QZ_SESSION_EXACT_HOLD);
  CHECK(qz_mutex_init(&mutex, "held", QZ_ADAPTIVE) == 0);
  for (int k = 0; k < 10; k++) {
    CHECK(qz_mutex_lock(&mutex) == 0);
    if (k == 5) usleep(20000);
    CHECK(qz_mutex_unlock(&mutex) == 0);
  }
  const struct qz_object *o = object("held", QZ_KIND_MUTEX);
  uint64_t holds = 0;
  for (int k = 0; k < QZ_TIME_BUCKETS; k++) holds += o->hold_hist[k];
  CHECK(holds == 10 && o->acquisitions == 10);
  CHECK(o->hold_max_ns >= 20000000 && o->hold_ns >= o->hold_max_ns);
}

/* ---- hooks ---- */

static void *leaves(void *unused) {
  hooked_deep(20, unused);
  return NULL;
}
static void leaving(void) {
  for (int way = 0; way < 2; way++) {
    qz_thread_t thread;
    void *result;
    CHECK(qz_create(&thread, NULL, leaves, &thread) == 0);
    if (way) let_them(); /* on a stack of its own; else on this one */
    CHECK(qz_join(thread, &result) == 0 && result == &thread);
    hooked_inner();
    stack_is("main", 1, (uint64_t[]){address((void *)main)});
  }
  CHECK(calls_to(address((void *)hooked_deep)) == 2 * 21);
  CHECK(calls_to(address((void *)hooked_inner)) == 2);
  uint32_t alive = 0;
  for (uint32_t k = 0; k < qz_session_thread_high(&view); k++) alive += qz_session_thread(&view, k)->serial != 0;
  CHECK(alive == 1);
}

/* ---- stacks that outgrow their first records ---- */

enum { DEEP = 40, FEW = 12, LOCKS = 20 };
static qz_mutex held[LOCKS];
static void takes_locks_at_gate(void *gate) {
  for (int k = 0; k < LOCKS; k++) qz_mutex_lock(&held[k]);
  qz_sem_wait(gate);
  for (int k = 0; k < LOCKS; k++) qz_mutex_unlock(&held[k]);
}
static void *deep(void *gate) {
  hooked_even(DEEP - 1, at_gate, gate);
  at_gate(&gates[1]);
  return NULL;
}
static void *holds(void *gate) {
  takes_locks_at_gate(gate);
  at_gate(&gates[1]);
  return NULL;
}
static void creates(void *thread) { CHECK(qz_create(thread, "child", thread_at_gate, &gates[0]) == 0); }
static void grown(void) {
  make_gates();
  begin_main();
  qz_thread_t thread, child;
  uint64_t gate0, gate1;
  for (int round = 0; round < 3; round++) { /* the record is used again: by a deep thread, and by others */
    CHECK(qz_create(&thread, "shallow", thread_at_gate, &gates[0]) == 0);
    let_them();
    CHECK(is_long("shallow") == (round > 0));
    gate0 = key_of(qz_session_object(&view, QZ_STATE_OBJECT(qz_session_thread(&view, thread_index("shallow"))->state)));
    stack_is("shallow", 3, (uint64_t[]){address((void *)main), address((void *)thread_at_gate), gate0});
    qz_sem_post(&gates[0]);
    qz_join(thread, NULL);

    CHECK(qz_create(&thread, "deep", deep, &gates[0]) == 0);
    let_them();
    CHECK(is_long("deep") && !is_long("main"));
    int count = procedures((void *)deep, DEEP);
    expected[count] = gate0;
    stack_is("deep", count + 1, expected);
    qz_sem_post(&gates[0]);
    let_them();
    gate1 = key_of(qz_session_object(&view, QZ_STATE_OBJECT(qz_session_thread(&view, thread_index("deep"))->state)));
    stack_is("deep", 3, (uint64_t[]){address((void *)main), address((void *)deep), gate1});
    qz_sem_post(&gates[1]);
    qz_join(thread, NULL);
  }
  qz_thread_t other;
  CHECK(qz_create(&other, "other", thread_at_gate, &gates[2]) == 0); /* takes the long record */
  let_them();
  for (int k = 0; k < LOCKS; k++) CHECK(qz_mutex_init(&held[k], NULL, QZ_ADAPTIVE) == 0);
  CHECK(qz_create(&thread, "holds", holds, &gates[0]) == 0);
  let_them();
  CHECK(is_long("holds"));
  uint32_t index = thread_index("holds");
  uint64_t keys[LOCKS + 8];
  struct qz_stack_copy copy;
  CHECK(qz_session_copy_stack(&view, qz_session_thread(&view, index), keys, 0, &copy));
  CHECK(copy.depth == LOCKS + 3 && keys[1] == address((void *)holds) && keys[LOCKS + 2] == gate0);
  for (int k = 0; k < LOCKS; k++) { /* each contains its owner */
    CHECK(QZ_KEY_KIND(keys[k + 2]) == QZ_KIND_MUTEX);
    const struct qz_object *o = qz_session_object(&view, QZ_KEY_INDEX(keys[k + 2]));
    CHECK(o->address == address(&held[k]) && o->owner == index + 1);
  }
  qz_sem_post(&gates[0]);
  let_them();
  stack_is("holds", 3, (uint64_t[]){address((void *)main), address((void *)holds), gate1});
  qz_sem_post(&gates[1]);
  qz_join(thread, NULL);

  /* A thread begins with its creator's procedures; main's own record grows here. */
  hooked_even(DEEP - 1, creates, &child);
  CHECK(is_long("main"));
  let_them();
  CHECK(is_long("child"));
  int count = procedures((void *)main, DEEP);
  expected[count++] = address((void *)thread_at_gate);
  expected[count++] = gate0;
  stack_is("child", count, expected);
  qz_sem_post(&gates[0]);
  qz_join(child, NULL);
  stack_is("main", 1, (uint64_t[]){address((void *)main)});
  qz_sem_post(&gates[2]);
  qz_join(other, NULL);
  CHECK(calls_to(address((void *)hooked_even)) == calls_to(address((void *)hooked_odd)));
}

/* A deep thread and others that, at the same places on their stacks, must leave the short record exactly where it
 * continues in its long one: the next record belongs to a thread that keeps its short one. */
struct growth {
  qz_sem *begin;
  int times, depth;
  void (*at_the_end)(void *);
};
static void *grows(void *argument) {
  const struct growth *growth = argument;
  for (int k = 0; k < growth->times; k++) {
    qz_sem_wait(growth->begin);
    hooked_even(growth->depth - 1, growth->at_the_end, &gates[1]);
  }
  at_gate(&gates[1]); /* keeps its record */
  return NULL;
}
static void nothing(void *unused) { (void)unused; }
static void beside(void) {
  enum { OTHERS = 64 }; /* stacks begin at different places */
  make_gates();
  begin_main();
  qz_thread_t thread, others[OTHERS];
  struct growth often = {&gates[0], OTHERS, DEEP, nothing}, once = {&gates[2], 1, FEW, at_gate};
  CHECK(qz_create(&thread, "deep", grows, &often) == 0);
  char name[16];
  for (int k = 0; k < OTHERS; k++) {
    snprintf(name, sizeof name, "other %d", k);
    CHECK(qz_create(&others[k], name, k % 3 ? grows : thread_at_gate, k % 3 ? (void *)&once : &gates[1]) == 0);
  }
  let_them();
  for (int k = 0; k < OTHERS; k++) {
    snprintf(name, sizeof name, "other %d", k);
    CHECK(!is_long(name));
  }
  for (int k = 0; k < OTHERS; k++) {
    qz_sem_post(&gates[0]);
    let_them();
    qz_sem_post(&gates[2]);
    let_them();
  }
  CHECK(is_long("deep"));
  for (int k = 0; k < OTHERS; k++) {
    snprintf(name, sizeof name, "other %d", k);
    CHECK(is_long(name) == (k % 3 != 0));
    const struct qz_thread *record = qz_session_thread(&view, thread_index(name));
    void *start = k % 3 ? (void *)grows : (void *)thread_at_gate;
    CHECK(record->start == address(start) && record->overflows == 0);
    int count = procedures(start, k % 3 ? FEW : 0);
    expected[count++] = key_of(qz_session_object(&view, QZ_STATE_OBJECT(record->state)));
    stack_is(name, count, expected);
  }
  for (int k = 0; k < 2 * OTHERS + 1; k++) qz_sem_post(&gates[1]);
  for (int k = 0; k < OTHERS; k++) qz_join(others[k], NULL);
  qz_join(thread, NULL);
}

/* A call that uses more objects than there is room for pairs leaves room for other calls, in the slots that are
 * searched first; all are counted. */
#define OBJECTS 80000
static void locks(qz_mutex *m) {
  qz_mutex_lock(m);
  qz_mutex_unlock(m);
}
static void many_objects(void) {
  static qz_mutex many[OBJECTS], one;
  for (int k = 0; k < OBJECTS; k++) CHECK(qz_mutex_init(&many[k], "many", QZ_ADAPTIVE) == 0);
  for (int k = 0; k < 2 * OBJECTS; k++) locks(&many[k % OBJECTS]);
  CHECK(qz_mutex_init(&one, "one", QZ_ADAPTIVE) == 0);
  for (int k = 0; k < 10; k++) {
    qz_mutex_lock(&one);
    qz_mutex_unlock(&one);
  }
  uint64_t sum = 0, own = 0;
  const struct qz_object *alone = object("one", QZ_KIND_MUTEX);
  for (uint32_t k = 1; k < qz_session_object_high(&view); k++) {
    const struct qz_object *o = qz_session_object(&view, k);
    if (o->kind == QZ_KIND_MUTEX && o != alone) own += o->acquisitions;
  }
  const struct qz_call *calls;
  for (uint32_t table = 0; (calls = qz_session_calls(&view, table)); table++) {
    uint32_t near = 0;
    for (uint32_t slot = 0; slot < view.call_slots; slot++)
      if (calls[slot].site && calls[slot].key & QZ_KEY_OBJECT && QZ_KEY_KIND(calls[slot].key) == QZ_KIND_MUTEX) {
        sum += calls[slot].count;
        near += slot < view.call_slots / 2;
      }
    CHECK(near < 1024);
  }
  CHECK(own == 2 * OBJECTS);
  CHECK(sum == 2 * OBJECTS + 10);
  CHECK(calls_to(key_of(alone)) == 10);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"awaited", awaited},           {"records", records}, {"hold", hold},    {"leaving", leaving},
               {"many_objects", many_objects}, {"grown", grown},     {"beside", beside}};
  attach();
  qz_yield(); /* main's record is begun */
  for (size_t k = 0; argc > 1 && k < sizeof cases / sizeof *cases; k++) {
    if (strcmp(argv[1], cases[k].name)) continue;
    cases[k].run();
    return 0;
  }
  return 2;
}
