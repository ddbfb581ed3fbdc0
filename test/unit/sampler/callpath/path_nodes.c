/* Call paths made of a thread's record and the frames of its stack: the position of its locks among the frames, case by
 * case. In each row a small letter stands for a procedure, a capital one for a lock or for what the thread waits for;
 * `s` is the start routine. */
#include "sampler/callpath/call_path.h"
#include "sampler/callpath/path_steps.h"
#include "test/support/self_profile.h"
#include "sampler/profile/interned_stacks.h"

static struct self_profile self;
static uint64_t objects[26];

static uint64_t key_of(char letter) {
  return letter >= 'a' ? 0x100000 + (uint64_t)(letter - 'a') * 0x100 : objects[letter - 'A'];
}
static uint32_t node_of(const char *path) {
  uint32_t node = 0;
  for (; *path; path++) node = qzi_intern_child(&self.interner, node, key_of(*path));
  return node;
}
static void text_of(uint32_t node, char *text) {
  uint32_t depth = 0;
  for (uint32_t at = node; at; at = self.file.stacks[at].parent) depth++;
  text[depth] = 0;
  for (; depth--; node = self.file.stacks[node].parent) {
    text[depth] = '?';
    for (int letter = 'A'; letter <= 'z'; letter++)
      if ((letter <= 'Z' || letter >= 'a') && key_of((char)letter) == self.interner.node_keys[node])
        text[depth] = (char)letter;
  }
}

enum { CUT = 1, SETTLED = 2, RAN = 4 }; /* the walk's outer end is unknown; settled; a sample of the running thread */
static const struct {
  const char *what;
  const char *takers;  /* pairs of a lock and a procedure that takes it */
  const char *earlier; /* walk, settled, made of the earlier record */
  const char *record, *walk;
  unsigned how;
  char waiting;
  const char *path;
} rows[] = {
  {"frames alone", "", NULL, "s", "abc", 0, 0, "sabc"},
  {"nothing but the record", "", NULL, "s", "", 0, 0, "s"},
  {"what it waits for stands last", "", NULL, "s", "ab", 0, 'W', "sabW"},
  {"and once, where the record has it already", "", NULL, "sW", "ab", 0, 'W', "sabW"},
  {"a lock behind the procedure that takes it", "Lb", NULL, "sL", "abc", SETTLED, 0, "sabLc"},
  {"behind the innermost of these", "La", NULL, "sL", "abac", SETTLED, 0, "sabaLc"},
  {"one of several that take it", "LxLb", NULL, "sL", "abc", SETTLED, 0, "sabLc"},
  {"taken by the start routine", "Ls", NULL, "sL", "ab", SETTLED, 0, "sLab"},
  {"two locks, each in its place", "LaMb", NULL, "sLM", "abc", SETTLED, 0, "saLbMc"},
  {"two locks of one procedure, in their order", "LbMb", NULL, "sLM", "abc", SETTLED, 0, "sabLMc"},
  {"a lock, and a wait for another one", "La", NULL, "sL", "ab", SETTLED, 'M', "saLbM"},
  {"nobody knows who takes it: before all frames", "", NULL, "sL", "ab", SETTLED, 0, "sLab"},
  {"it may have been taken further out than the walk goes", "Lx", NULL, "sL", "ab", CUT, 0, "sLab"},
  {"frames that are older than the lock give way to its taker", "Lx", NULL, "sL", "ab", 0, 0, "sxL"},
  {"so where there are none", "Lx", NULL, "sL", "", 0, 0, "sxL"},
  {"one that ran before it took the lock has no lock", "Lx", NULL, "sL", "ab", RAN, 0, "sab"},
  {"one that ran with it has it", "Lb", NULL, "sL", "abc", RAN, 0, "sabLc"},
  {"a wrapper takes it for its caller", "Lx", NULL, "sL", "ab", SETTLED, 0, "sLab"},
  {"and stays one", "Lx", "ab", "sL", "cd", 0, 0, "sLcd"},
  {"of several that take it, none is known to be a wrapper", "LxLy", NULL, "sL", "ab", SETTLED, 0, "sL"},
  {"what hooks have pushed stands before the first lock", "Lb", NULL, "spL", "ab", SETTLED, 0, "spabL"},
};

static void try_row(size_t k) {
  struct qzi_paths paths = {.in = &self.interner};
  struct qzi_walk walk = {.whole = 1};
  char made[64];
  for (const char *at = rows[k].takers; *at; at += 2) qzi_paths_taken(&paths, key_of(at[0]), key_of(at[1]));
  if (rows[k].earlier) {
    for (const char *at = rows[k].earlier; *at; at++) walk.entries[walk.count++] = key_of(*at);
    qzi_paths_node(&paths, node_of(rows[k].record), &walk, 0, 1);
    walk.count = 0;
  }
  for (const char *at = rows[k].walk; *at; at++) walk.entries[walk.count++] = key_of(*at);
  walk.whole = !(rows[k].how & CUT);
  uint32_t record = node_of(rows[k].record);
  int settled = (rows[k].how & SETTLED) != 0;
  text_of(rows[k].how & RAN
            ? qzi_paths_ran(&paths, record, &walk, settled)
            : qzi_paths_node(&paths, record, &walk, rows[k].waiting ? key_of(rows[k].waiting) : 0, settled),
          made);
  if (strcmp(made, rows[k].path)) {
    fprintf(stderr, "%s: %s, not %s\n", rows[k].what, made, rows[k].path);
    exit(1);
  }
  free(paths.takers);
  qzi_table_free(&paths.taker_table);
}

/* Whether hooks pushed procedures, where the thread may have ended since its record was copied. Its creator's one
 * procedure is known as a path of two, `ab`. */
static void try_hooked(void) {
  enum { index = 2, serial = 7 };
  struct qz_thread *thread = fake_thread(&self.fake, index);
  struct qzi_base bases[index + 1] = {[index] = {.serial = serial, .node = node_of("ab"), .depth = 2}}, *none = NULL;
  struct {
    const char *path;
    uint64_t now;
    struct qzi_base *bases;
    int hooked;
  } cases[] = {
    {"abs", serial, bases, 0}, {"abso", serial, bases, 1}, {"absL", serial, bases, 0}, {"abs", 0, bases, 0},
    {"abs", 8, bases, 0},      {"as", serial, none, 0},    {"asb", serial, none, 1},   {"as", 8, none, -1},
  };
  struct qzi_base *before = self.interner.bases;
  fake_create(&self.fake, index, serial, "thread", key_of('s'), 0);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    thread->base = 1;
    thread->serial = cases[k].now;
    self.interner.bases = cases[k].bases;
    int hooked = qzi_paths_hooked(&self.interner, index, serial, node_of(cases[k].path));
    if (hooked != cases[k].hooked) {
      fprintf(stderr, "%s, serial %d now: hooked %d, not %d\n", cases[k].path, (int)cases[k].now, hooked,
              cases[k].hooked);
      exit(1);
    }
  }
  self.interner.bases = before;
}

/* What a team executes: `r` is the library's procedure that begins the region. */
static void try_teams(void) {
  enum { master = 0, worker = 3 };
  struct qzi_paths paths = {.in = &self.interner};
  struct qzi_walk walk = {.whole = 1, .thread = master, .forks = 1, .fork = {{.at = 2, .body = 3}}};
  struct qzi_walk other = {.whole = 1, .thread = worker, .team_work = 1};
  struct {
    const char *what, *record, *master, *worker, *path;
    char lock;
    bool task;
  } cases[] = {
    {"nothing is known of the region", "t", NULL, "b", "tb", 0, false},
    {"below the caller of who began it", "t", "crb", "b", "srcrb", 0, false},
    {"the last caller", "t", "drb", "b", "srdrb", 0, false},
    {"without the locks that this one holds", "t", "erb", "b", "srerb", 'L', false},
    {"another region is not known", "t", NULL, "x", "tx", 0, false},
    {"a task is below the last one", "t", NULL, "x", "srerx", 0, true},
    {"what hooks have pushed stays", "hkt", NULL, "b", "hktb", 0, false},
    {"the region whose end is waited for", "t", "dr", "y", "srdry", 0, false},
    {"and which is over", "t", "f", "z", "tz", 0, false},
  };
  fake_create(&self.fake, worker, 9, "worker", key_of('t'), master);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char made[64];
    walk.count = other.count = 0;
    if (cases[k].master) {
      for (const char *at = cases[k].master; *at; at++) walk.entries[walk.count++] = key_of(*at);
      walk.forks = walk.count > 1;
      walk.fork[0].body = walk.count > 2 ? 3 : 0;
      qzi_paths_node(&paths, node_of(cases[k].lock ? "srL" : "sr"), &walk, 0, 1);
    }
    for (const char *at = cases[k].worker; *at; at++) other.entries[other.count++] = key_of(*at);
    other.team_task = cases[k].task;
    text_of(qzi_paths_ran(&paths, node_of(cases[k].record), &other, 1), made);
    if (strcmp(made, cases[k].path)) {
      fprintf(stderr, "%s: %s, not %s\n", cases[k].what, made, cases[k].path);
      exit(1);
    }
  }
}

int main(void) {
  self_profile_open(&self);
  for (uint32_t o = 1; o <= 3; o++) {
    char letter = "LMW"[o - 1];
    objects[letter - 'A'] = fake_make_object(&self.fake, o, QZ_KIND_MUTEX, NULL, 0x200000 + o);
  }
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) try_row(k);
  try_hooked();
  try_teams();
  self_profile_close(&self);
  return 0;
}
