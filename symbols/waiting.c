/* What waits in C++'s own library, under the name that the program called: the library implements those in its headers,
 * by procedures and classes that it keeps to itself. Owns nothing; a pure function of strings. */
#include <stdio.h>
#include <string.h>
#include "symbols.h"
#include "internal.h"

static const struct {
  const char *within, *public;
  bool arguments;
} classes[] = {
  {"std::latch", "std::latch", false},
  {"std::barrier", "std::barrier", false},
  {"std::__tree_barrier", "std::barrier", false},
  {"std::counting_semaphore", "std::counting_semaphore", false},
  {"std::__atomic_semaphore", "std::counting_semaphore", false},
  {"std::__platform_semaphore", "std::counting_semaphore", false},
  {"std::atomic_flag", "std::atomic_flag", false},
  {"std::atomic", "std::atomic", true},
  {"std::__atomic_base", "std::atomic", true},
  {"std::__atomic_float", "std::atomic", true},
  {"std::atomic_ref", "std::atomic_ref", true},
  {"std::__atomic_ref", "std::atomic_ref", false}, /* its arguments are not those of the public one */
};
static const char *const members[] = {"wait", "acquire", "try_acquire", "arrive_and_wait"};

static bool waits(const char *member) {
  for (size_t k = 0; k < sizeof members / sizeof *members; k++)
    if (!strncmp(member, members[k], strlen(members[k]))) return true;
  return false;
}

/* Where the template arguments that begin there end; where there are none, the same place. */
static const char *behind_arguments(const char *at) {
  int depth = 0;
  if (*at != '<') return at;
  for (; *at; at++) {
    if (*at == '<') depth++;
    if (*at == '>' && at[-1] != '-' && --depth == 0) return at + 1;
  }
  return at;
}

bool qz_symbols_waits_in(const char *name, char *out, size_t room) {
  for (const char *at = strstr(name, "std::"); at; at = strstr(at + 1, "std::")) {
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) {
      size_t length = strlen(classes[k].within);
      if (strncmp(at, classes[k].within, length)) continue;
      const char *arguments = at + length, *member = behind_arguments(arguments);
      if (strncmp(member, "::", 2)) continue;
      int kept = classes[k].arguments ? (int)(member - arguments) : 0;
      member += strncmp(member + 2, "_M_", 3) ? 2 : 5;
      if (!waits(member)) continue;
      int written =
        snprintf(out, room, "%s%.*s::%.*s", classes[k].public, kept, arguments, (int)strcspn(member, "(<: "), member);
      return written > 0 && (size_t)written < room;
    }
  }
  return false;
}
