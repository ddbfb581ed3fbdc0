/* The files of a rotating recording: which names belong to it. */
#include "sampler/control/rotation.h"

#include <string.h>
#include "test/support/check.h"

int main(void) {
  static const struct {
    const char *name, *base;
    int is;
  } cases[] = {
    {"a-20260102T030405Z.quartz", "a.quartz", 1},
    {"a-20260102T030405Z-2.quartz", "a.quartz", 1},
    {"a-20260102T030405Z", "a", 1},
    {"a.b-20260102T030405Z.quartz", "a.b.quartz", 1},
    {"a.quartz", "a.quartz", 0},
    {"a-b-20260102T030405Z.quartz", "a.quartz", 0},
    {"a-20260102T030405Z.quartz.bak", "a.quartz", 0},
    {"a-20260102T030405Z.txt", "a.quartz", 0},
    {"a-2026010T030405Z.quartz", "a.quartz", 0},
    {"a-20260102T030405Z-.quartz.new", "a.quartz", 0},
    {"b-20260102T030405Z.quartz", "a.quartz", 0},
  };
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
    CHECK(qzi_rotation_is_one(cases[k].name, cases[k].base) == cases[k].is);
  char name[64];
  CHECK(!qzi_rotation_name(name, sizeof name, "run/a.quartz"));
  CHECK(!strncmp(name, "run/a-2", 7) && qzi_rotation_is_one(name + 4, "a.quartz"));
  CHECK(qzi_rotation_name(name, 20, "a.quartz") == -1);
  return 0;
}
