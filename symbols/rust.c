/* Names of Rust's procedures, of both manglings (RFC 2603, and the older one, which is C++'s with a hash at the end),
 * by GNU's libiberty. Pure functions of strings. */
#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#ifdef QUARTZ_HAVE_LIBIBERTY
#include <libiberty/demangle.h>

#define MOST \
  16384u /* bytes of a name: a mangled one refers back to its parts, which multiplies them in a hostile one */

struct name {
  char *bytes;
  size_t used;
  jmp_buf too_long;
};

static void take(const char *text, size_t length, void *name) {
  struct name *in = name;
  if (in->used + length >= MOST) longjmp(in->too_long, 1); /* the only way to end it */
  memcpy(in->bytes + in->used, text, length);
  in->used += length;
}

/* The end of the bracket that opens at `at`; 0: it is a type of a trait ("<T as Trait>"), or has no end. */
static size_t closing(const char *text, size_t at) {
  int depth = 0;
  for (size_t k = at; text[k]; k++) {
    if (text[k] == '<') depth++;
    if (depth == 1 && !strncmp(text + k, " as ", 4)) return 0;
    if (text[k] == '>' && text[k - 1] != '-' && --depth == 0) return k;
  }
  return 0;
}

/* "<m::Cache>::refill" to "m::Cache::refill", as the older mangling has it; not "<[T]>::len", "<T as Trait>::f". */
static void plain_paths(char *text) {
  size_t used = 0, length = strlen(text);
  for (size_t at = 0; at < length; at++) {
    int begins =
      text[at] == '<' && (used == 0 || !(strchr("_:>", text[used - 1]) || isalnum((unsigned char)text[used - 1])));
    size_t end = begins && (text[at + 1] == '_' || isalpha((unsigned char)text[at + 1])) ? closing(text, at) : 0;
    if (end && text[end + 1] == ':') {
      memmove(text + end, text + end + 1, length - end);
      length--;
    } else {
      text[used++] = text[at];
    }
  }
  text[used] = 0;
}

char *qzi_rust_demangle(const char *mangled) {
  struct name name = {.bytes = malloc(MOST)};
  if (!name.bytes) return NULL;
  if (setjmp(name.too_long) || !rust_demangle_callback(mangled, 0, take, &name) || !name.used) {
    free(name.bytes);
    return NULL;
  }
  name.bytes[name.used] = 0;
  plain_paths(name.bytes);
  return name.bytes;
}
#else
char *qzi_rust_demangle(const char *mangled) {
  (void)mangled;
  return NULL;
}
#endif

/* ---- whose it is ---- */

/* Names of the older kind end with a hash, "17h" and 16 digits: C++'s do not. */
static bool has_hash(const char *name) {
  for (const char *at = strstr(name, "17h"); at; at = strstr(at + 1, "17h"))
    if (strspn(at + 3, "0123456789abcdef") == 16 && at[19] == 'E') return true;
  return false;
}

/* Whether the number and name of one of Rust's crates stand there: "4core...". */
static bool is_crate(const char *at) {
  char *name;
  unsigned long length = isdigit((unsigned char)*at) ? strtoul(at, &name, 10) : 0;
  return length && length <= strlen(name) && qz_is_rust_crate(name, length);
}

/* The crate that the path begins with: 1 of Rust's own, 0 another, -1 not known here (a reference back). */
static int crate_of(const char *at) {
  while (*at == 'I' || *at == 'N' || *at == 'M' || *at == 'X' || *at == 'Y') {
    char c = *at++;
    if (c == 'N' && *at) at++;
    if ((c == 'M' || c == 'X') && *at == 's') at = strchr(at, '_') ? strchr(at, '_') + 1 : at + strlen(at);
  }
  if (*at++ != 'C') return -1;
  if (*at == 's') at = strchr(at, '_') ? strchr(at, '_') + 1 : at + strlen(at);
  return is_crate(at);
}

bool qzi_rust_standard(const char *name) {
  if (!strncmp(name, "_ZN", 3)) return is_crate(name + 3) && has_hash(name);
  return !strncmp(name, "_R", 2) && crate_of(name + 2) == 1;
}

bool qzi_rust_made_for(const char *name) {
  for (const char *at = strstr(name, "NC"); at; at = strstr(at + 2, "NC"))
    if (!strncmp(name, "_R", 2) && crate_of(at + 2) == 0) return true;
  return false;
}
