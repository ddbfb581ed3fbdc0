/* Lines of maps of generated code, and the names in them. */
#include "sampler/profile/generated_names.h"
#include "test/support/check.h"

#include <string.h>

struct example {
  const char *text, *name, *file;
  uint32_t line;
};
static const struct example examples[] = {
  {"JS:*work file:///srv/a.mjs:12:5", "work", "/srv/a.mjs", 12},
  {"LazyCompile:~get size /srv/with space/b.js:3:11", "get size", "/srv/with space/b.js", 3},
  {"JS:^processTimers node:internal/timers:507:25", "processTimers", "node:internal/timers", 507},
  {"JS:* /srv/a.js:1:2", "(anonymous)", "/srv/a.js", 1},
  {"Function:Tree.add tree.js:7:9", "Tree.add", "tree.js", 7},
  {"JS:*native", "native", "", 0},
  {"Builtin:ArrayMap", "Builtin:ArrayMap", "", 0},
  {"py::Tree.add.<locals>.<lambda>:/srv/tree.py", "Tree.add.<locals>.<lambda>", "/srv/tree.py", 0},
  {"py::", "", "", 0},
  {"long Sum.of(int[], java.util.List)", "Sum.of", "", 0},
  {"java.util.HashMap.get(java.lang.Object)", "java.util.HashMap.get", "", 0},
  {"void Main.<init>()", "Main.<init>", "", 0},
  {"java.util.Map<java.lang.String, int> Sum.all()", "Sum.all", "", 0},
  {"void [app] Sum::Of(int32,class [lib]List`1<string>)[OptimizedTier1]", "Sum::Of", "", 0},
  {"Shop.Till:Add (int,string)", "Shop.Till:Add", "", 0},
  {"(wrapper managed-to-native) Till:Open (int)", "Till:Open", "", 0},
  {"I2C/C2I adapters(0xbbbb)", "I2C/C2I adapters", "", 0},
  {"StubRoutines (1)", "StubRoutines", "", 0},
  {"Interpreter", "Interpreter", "", 0},
  {"(int)", "(int)", "", 0},
  {")))", ")))", "", 0},
  {"bad\001\nname  ", "bad??name", "", 0},
};

static int reads(const char *line, uint64_t start, uint64_t end, const char *name) {
  uint64_t from = 1, to = 2;
  const char *its = NULL;
  return !qzi_generated_line(line, strlen(line), &from, &to, &its) && from == start && to == end && !strcmp(its, name);
}
static int refuses(const char *line) {
  uint64_t start, end;
  const char *name;
  return qzi_generated_line(line, strlen(line), &start, &end, &name) == -1;
}

int main(void) {
  struct qzi_generated_name its;
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    const struct example *one = &examples[k];
    qzi_generated_tidy(one->text, strlen(one->text), &its);
    int same = !strcmp(its.name, one->name) && !strcmp(its.file, one->file) && its.line == one->line;
    if (!same) fprintf(stderr, "%s: '%s' '%s' %u\n", one->text, its.name, its.file, its.line);
    CHECK(same);
  }
  static char text[5000];
  memset(text, 'x', sizeof text);
  qzi_generated_tidy(text, sizeof text, &its);
  CHECK(strlen(its.name) == QZI_GENERATED_NAME - 1);

  CHECK(reads("7f00a0 20 name of it", 0x7f00a0, 0x7f00c0, "name of it"));
  CHECK(reads("0x00007f00A0 0x20  a", 0x7f00a0, 0x7f00c0, "a"));
  static const char *const bad[] = {"",
                                    "7f00a0",
                                    "7f00a0 ",
                                    "7f00a0 20",
                                    "7f00a0 20 ",
                                    "x 20 name",
                                    "7f00a0 0 a",
                                    "ffffffffffffffff 20 over",
                                    "12345678901234567 1 long",
                                    "7f 0x a"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) CHECK(refuses(bad[k]));
  return 0;
}
