/* As which object a wait counts that no publisher reports: walks made by hand, in modules of the test's own. */
#include "sampler/waits/external_waits.h"

#include "sampler/machine_code/call_target.h"
#include "sampler/profile/external_objects.h"
#include "sampler/waits/poll_detector.h"
#include "test/support/check.h"

/* ---- what the program is ---- */

enum { PROGRAM = 1, LIBRARY, LAYER, MODULES };
enum { CODE = 0x1000, DATA = 0x1800, LIB = 0x2000, LIB_DATA = 0x2800, IN_LAYER = 0x3000, HEAP = 0x9000 };
static const char strings[] = "\0/bin/prog\0/lib/libgomp.so.1\0/opt/quartz/libquartz-pthread.so";
static struct qz_module modules[] = {{.path = 1}, {.path = 11}, {.path = 29}};

uint32_t qzi_intern_module(const struct qzi_interner *in, uint64_t address) {
  (void)in;
  return address >= CODE && address < CODE + MODULES * 0x1000 ? (uint32_t)(address / 0x1000) : 0;
}
static uint64_t target;
uint64_t qzi_call_target(uint32_t pid, uint64_t site) {
  CHECK(pid == 4711);
  return site ? target : 0;
}
static int tries;
int qzi_poll_detector_tries(uint32_t pid, uint64_t start) {
  CHECK(pid == 4711 && start);
  return tries;
}

static struct qzi_external_object objects[32];
static uint32_t count;
struct qzi_external_object *qzi_external_at(const struct qzi_interner *in, uint32_t index) {
  (void)in;
  CHECK(index && index <= count);
  return &objects[index];
}
uint32_t qzi_external_find(const struct qzi_interner *in, const struct qzi_external *its) {
  (void)in;
  for (uint32_t k = 1; k <= count; k++)
    if (objects[k].its.kind == its->kind && objects[k].its.key == its->key && objects[k].its.loop == its->loop)
      return k;
  return 0;
}
uint32_t qzi_external_add(struct qzi_interner *in, const struct qzi_external *its) {
  (void)in;
  objects[++count].its = *its;
  return count;
}

static struct qz_profile head = {.pid = 4711};
static struct qzi_file file = {.head = &head, .strings = (char *)strings, .modules = modules};
static struct qzi_futex_record records[4];
static struct qzi_interner in = {.file = &file, .futex_records = records};

/* ---- futexes that the kernel shows ---- */

static struct qzi_walk at(uint64_t site, int own, uint64_t called) {
  return (struct qzi_walk){
    .site = site, .site_module = qzi_intern_module(&in, site), .own = own, .called = called, .caller_entry = CODE};
}

static void futexes(void) {
  static const struct {
    const char *what;
    uint64_t address, site;
    int own;
    uint32_t kind;
    uint64_t key;
  } cases[] = {
    {"a static variable", DATA, CODE + 1, 1, QZI_BY_VARIABLE, DATA},
    {"the same from another place", DATA, CODE + 2, 1, QZI_BY_VARIABLE, DATA},
    {"another variable, from the same place", DATA + 8, CODE + 1, 1, QZI_BY_VARIABLE, DATA + 8},
    {"on the heap: by the program's place", HEAP, CODE + 1, 1, QZI_BY_PLACE, CODE + 1},
    {"elsewhere on the heap, at the same place", HEAP + 64, CODE + 1, 1, QZI_BY_PLACE, CODE + 1},
    {"another place", HEAP, CODE + 2, 1, QZI_BY_PLACE, CODE + 2},
    {"a library's own thread: by the library", HEAP, LIB + 1, 0, QZI_BY_LIBRARY, LIBRARY},
    {"at another place of it", HEAP + 8, LIB + 2, 0, QZI_BY_LIBRARY, LIBRARY},
    {"a library of the program's own", HEAP, LIB + 9, 1, QZI_BY_PLACE, LIB + 9},
    {"the library's variable", LIB_DATA, LIB + 1, 0, QZI_BY_VARIABLE, LIB_DATA},
    {"the pthread layer's own futex", IN_LAYER + 8, CODE + 1, 1, QZI_BY_LIBRARY, LAYER},
    {"nothing of the program is on the walk, and the program's file is no library", HEAP, CODE + 9, 0, QZI_BY_PLACE,
     CODE + 9},
    {"nothing is known", HEAP, 0, 0, QZI_BY_PLACE, 0},
  };
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct qzi_walk walk = at(cases[k].site, cases[k].own, LIB + 0x100);
    uint32_t index = qzi_futex(&in, cases[k].address, &walk);
    const struct qzi_external *its = &qzi_external_at(&in, index)->its;
    if (its->kind != cases[k].kind || its->key != cases[k].key || its->loop) fprintf(stderr, "%s\n", cases[k].what);
    CHECK(its->kind == cases[k].kind && its->key == cases[k].key && !its->loop);
  }
  CHECK_IS(count, 10); /* three of them were there already */
}

/* What was called at a place: as the code says, for the procedure in which the walk is may have been jumped to. */
static void called(void) {
  target = LIB + 0x200;
  CHECK(qzi_called_at(&in, CODE + 1, LIB + 0x100) == LIB + 0x200);
  CHECK(qzi_called_at(&in, CODE + 1, 0) == 0);
  target = CODE + 0x300; /* a procedure of the caller's own module */
  CHECK(qzi_called_at(&in, CODE + 1, LIB + 0x100) == LIB + 0x100);
  CHECK(qzi_called_at(&in, CODE + 1, CODE + 0x100) == CODE + 0x300);
  target = 0;
  CHECK(qzi_called_at(&in, CODE + 1, LIB + 0x100) == LIB + 0x100);
}

/* ---- loops ---- */

static void loops(void) {
  count = 0;
  tries = 1;
  struct qzi_walk own = at(CODE + 1, 1, 0), library = at(CODE + 5, 1, LIB + 0x100), apart = at(LIB + 1, 0, 0);
  uint32_t loop = qzi_loop(&in, CODE + 0x50, NULL);
  const struct qzi_external *its = &qzi_external_at(&in, loop)->its;
  CHECK(its->loop && its->tries && its->kind == QZI_BY_PLACE && its->key == CODE + 0x50 && its->site == CODE + 0x51);
  CHECK(its->module == PROGRAM);
  CHECK(qzi_loop(&in, CODE + 0x50, &own) == loop);
  tries = 0;
  uint32_t other = qzi_loop(&in, CODE + 0x60, &own);
  CHECK(other != loop && !qzi_external_at(&in, other)->its.tries);
  /* A library that spins and then sleeps has one object for both. */
  uint32_t spins = qzi_loop(&in, LIB + 0x120, &library);
  CHECK(!qzi_external_at(&in, spins)->its.loop && qzi_external_at(&in, spins)->its.key == CODE + 5);
  CHECK(qzi_futex(&in, HEAP, &library) == spins);
  CHECK(qzi_external_at(&in, qzi_loop(&in, LIB + 0x120, &apart))->its.kind == QZI_BY_LIBRARY);
  /* A futex at the place of a loop is another object. */
  struct qzi_walk there = at(CODE + 0x50, 1, 0);
  CHECK(qzi_futex(&in, HEAP, &there) != loop);
}

/* ---- waits that the pthread layer reports ---- */

static struct qz_object words[4];
const struct qz_object *qz_session_object(const struct qz_session_view *view, uint32_t index) {
  CHECK(!view && index < 4);
  return &words[index];
}
static uint32_t waits(uint32_t record, uint32_t thread, uint64_t site) {
  struct qzi_walk walk = at(site, 1, 0);
  return qzi_futex_reported(&in, record, thread, &walk);
}
static void reported(void) {
  count = 0;
  for (int k = 0; k < 4; k++) words[k] = (struct qz_object){.kind = QZ_KIND_FUTEX, .address = HEAP, .instances = 1};

  /* One thread's own word: each place is an object, and then counts are of several. */
  uint32_t first = waits(0, 1, CODE + 1);
  CHECK(waits(0, 1, CODE + 1) == first && !records[0].mixed);
  uint32_t second = waits(0, 1, CODE + 2);
  CHECK(second != first && records[0].mixed == QZI_MIXED && records[0].external == second);
  /* A second thread: it is one object after all, that of the first wait; counts are not mixed then. */
  CHECK(waits(0, 2, CODE + 3) == first && records[0].several && !records[0].mixed);
  CHECK(waits(0, 1, CODE + 2) == first && count == 2);

  /* Another word in the same record: what was counted for the former one cannot be told apart any more. */
  uint32_t here = waits(1, 1, CODE + 5);
  words[1].instances = 2;
  uint32_t next = waits(1, 3, CODE + 6);
  CHECK(next != here && !records[1].several && records[1].instance == 2 && records[1].thread == 3);
  CHECK(records[1].mixed == QZI_MIXED_FOR_GOOD && qzi_external_at(&in, here)->uncounted == QZI_UNCOUNTED_FOR_GOOD);
  words[1].instances = 3;
  waits(1, 4, CODE + 6);
  CHECK(waits(1, 5, CODE + 7) == next); /* two threads again */
  CHECK(records[1].mixed == QZI_MIXED_FOR_GOOD);

  /* Only the first wait of each instance. */
  struct qzi_walk walk = at(CODE + 8, 1, 0);
  qzi_futex_first(&in, 2, 1, &walk);
  uint32_t of_third = records[2].external;
  CHECK(of_third && records[2].thread == 1);
  walk = at(CODE + 9, 1, 0);
  qzi_futex_first(&in, 2, 1, &walk);
  CHECK(records[2].external == of_third);
  words[2].instances++;
  qzi_futex_first(&in, 2, 1, &walk);
  CHECK(records[2].external != of_third);
  /* Counts that were of several places remain so when the record is used for another word. */
  waits(3, 1, CODE + 1);
  uint32_t same = waits(3, 1, CODE + 2);
  CHECK(records[3].mixed == QZI_MIXED);
  words[3].instances++;
  CHECK(waits(3, 1, CODE + 2) == same && records[3].mixed == QZI_MIXED_FOR_GOOD);
  waits(3, 2, CODE + 2);
  CHECK(records[3].several && records[3].mixed == QZI_MIXED_FOR_GOOD);

  records[3] = (struct qzi_futex_record){.external = 0};
  words[3].kind = QZ_KIND_MUTEX;
  qzi_futex_first(&in, 3, 1, &walk);
  CHECK(!records[3].external);
}

int main(void) {
  futexes();
  called();
  loops();
  reported();
  return 0;
}
