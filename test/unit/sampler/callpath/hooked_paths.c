/* Which samples are joined with which paths of hooks. A letter stands for a procedure; `s` is the start routine. */
#include "sampler/callpath/hooked_paths.h"
#include "sampler/callpath/path_steps.h"
#include "test/support/self_profile.h"
#include "sampler/profile/interned_stacks.h"

static struct self_profile self;

static uint64_t key_of(char letter) { return 0x100000 + (uint64_t)(letter - 'a') * 0x100; }
static uint32_t node_of(const char *path) {
  uint32_t node = 0;
  for (; *path; path++) node = qzi_intern_child(&self.interner, node, key_of(*path));
  return node;
}

enum { CUT = 1, ANYBODY = 2 }; /* the walk's outer end is unknown; the thread of the stack is unknown */
static const struct {
  const char *what;
  const char *other; /* another path of hooks, seen earlier */
  const char *path, *walk;
  unsigned how;
  int joined;
} rows[] = {
  {"the same procedures", "", "sab", "ab", 0, 1},
  {"what has no hooks is left out", "", "sab", "xaybz", 0, 1},
  {"an immediate recursion is on the stack of hooks once", "", "sab", "aab", 0, 1},
  {"also through a procedure without hooks", "", "sab", "axab", 0, 1},
  {"the thread was further out", "", "sab", "a", 0, 0},
  {"the thread was further in, in a procedure with hooks", "sabc", "sab", "abc", 0, 0},
  {"it was in another one", "sac", "sab", "ac", 0, 0},
  {"it came from another one", "scb", "sab", "cb", 0, 0},
  {"a caller is missing on the stack", "", "sab", "b", 0, 0},
  {"the start routine alone", "sa", "s", "", 0, 1},
  {"and not from within another one", "sa", "s", "a", 0, 0},
  {"the start routine calls itself", "", "sab", "sab", 0, 1},
  {"whether it began there is not known", "", "sab", "ab", CUT, 0},
  {"of a stack that is not known to be the thread's, the innermost", "", "sab", "sab", ANYBODY, 1},
  {"one thread on the stack of another one", "scd", "sab", "scdsab", ANYBODY, 1},
  {"whose own path is another one", "scd", "scd", "scdsab", ANYBODY, 0},
};

static void try_row(size_t k) {
  struct qzi_paths paths = {.in = &self.interner};
  struct qzi_hooked *hooked = qzi_hooked_open(&paths);
  struct qzi_walk walk = {.whole = !(rows[k].how & CUT), .pc = 0x1234};
  uint64_t pc = 0, entry;
  for (const char *at = rows[k].walk; *at; at++) walk.entries[walk.count++] = key_of(*at);
  uint32_t node = node_of(rows[k].path);
  if (*rows[k].other) qzi_hooked_executed(hooked, 0, node_of(rows[k].other), 1, &pc, &entry);
  if (qzi_hooked_executed(hooked, 0, node, 1, &pc, &entry)) exit(1); /* no sample yet */
  qzi_hooked_add(hooked, rows[k].how & ANYBODY ? QZI_NO_THREAD : 0, &walk);
  uint32_t made = qzi_hooked_executed(hooked, 0, node, 1, &pc, &entry);
  if ((made != 0) != rows[k].joined || (made && (made != node || pc != 0x1234))) {
    fprintf(stderr, "%s: %s\n", rows[k].what, made ? "joined" : "not joined");
    exit(1);
  }
  qzi_hooked_close(hooked);
}

/* Time is divided evenly among the samples of a path, of whichever threads they are. */
static void try_shares(void) {
  struct qzi_paths paths = {.in = &self.interner};
  struct qzi_hooked *hooked = qzi_hooked_open(&paths);
  struct qzi_walk walk = {.whole = 1, .count = 1, .entries = {key_of('a')}};
  uint64_t pc, entry, ns[4] = {0};
  uint32_t node = node_of("sa");
  qzi_hooked_executed(hooked, 0, node, 1, &pc, &entry);
  for (walk.pc = 1; walk.pc <= 3; walk.pc++) qzi_hooked_add(hooked, 0, &walk);
  for (int k = 0; k < 300; k++)
    if (qzi_hooked_executed(hooked, 0, node, 10, &pc, &entry)) ns[pc] += 10;
  for (int k = 1; k <= 3; k++)
    if (ns[k] != 1000) exit(1);
  qzi_hooked_close(hooked);
}

/* More paths than are kept: the oldest are forgotten, without other effects. */
static void try_many(void) {
  struct qzi_paths paths = {.in = &self.interner};
  struct qzi_hooked *hooked = qzi_hooked_open(&paths);
  struct qzi_walk walk = {.whole = 1, .count = 1};
  uint64_t pc, entry;
  for (uint64_t k = 1; k <= 5000; k++) {
    uint64_t key = 0x1000000 + k * 0x10;
    uint32_t node = qzi_intern_child(&self.interner, node_of("s"), key);
    walk.entries[0] = key;
    if (qzi_hooked_executed(hooked, 0, node, 1, &pc, &entry)) exit(1);
    qzi_hooked_add(hooked, 0, &walk);
    if (qzi_hooked_executed(hooked, 0, node, 1, &pc, &entry) != node) exit(1);
  }
  qzi_hooked_close(hooked);
}

int main(void) {
  self_profile_open(&self);
  fake_create(&self.fake, 0, 1, NULL, key_of('s'), -1);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) try_row(k);
  try_shares();
  try_many();
  self_profile_close(&self);
  return 0;
}
