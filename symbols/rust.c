/* Names of Rust's procedures. Both manglings: v0 (Rust RFC 2603), and the older one, which looks like C++'s but for a
 * hash at the end and letters that C++ does not allow, written as $..$. Pure functions of strings. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define DEEPEST   96u
#define MOST      4096u  /* characters of a name */
#define WORK_MOST 20000u /* steps: references back may multiply a name */

/* ---- v0 ---- */

struct reader {
  const char *text; /* behind "_R" */
  size_t at, length;
  char *out;
  size_t used;
  unsigned depth, work;
  int failed, silent; /* silent: what is read is not printed */
};

static void put_bytes(struct reader *in, const char *bytes, size_t count) {
  if (in->silent || in->failed) return;
  if (in->used + count >= MOST) {
    in->failed = 1;
    return;
  }
  memcpy(in->out + in->used, bytes, count);
  in->used += count;
}
static void put(struct reader *in, const char *text) { put_bytes(in, text, strlen(text)); }

static char peek(const struct reader *in) { return in->at < in->length ? in->text[in->at] : 0; }
static char next(struct reader *in) {
  if (in->at < in->length && in->work++ < WORK_MOST) return in->text[in->at++];
  in->failed = 1;
  return 0;
}
static int skip(struct reader *in, char c) {
  if (peek(in) != c) return 0;
  in->at++;
  return 1;
}

/* Digits of 0-9a-zA-Z up to "_"; none: 0, else their value + 1. */
static uint64_t base62(struct reader *in) {
  uint64_t value = 0;
  if (skip(in, '_')) return 0;
  for (;;) {
    char c = next(in);
    if (c == '_' || in->failed) return value + 1;
    unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                     : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
                     : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36
                                            : 62;
    if (digit == 62 || value > (UINT64_MAX - digit) / 62) in->failed = 1;
    value = value * 62 + digit;
  }
}
static uint64_t disambiguator(struct reader *in) { return skip(in, 's') ? base62(in) + 1 : 0; }

static const char *identifier(struct reader *in, size_t *length) {
  size_t count = 0;
  skip(in, 'u'); /* in Punycode: as it is */
  if (peek(in) < '0' || peek(in) > '9') in->failed = 1;
  if (!skip(in, '0'))
    while (peek(in) >= '0' && peek(in) <= '9' && count < MOST) count = count * 10 + (size_t)(next(in) - '0');
  skip(in, '_');
  if (in->failed || count > in->length - in->at) {
    in->failed = 1;
    *length = 0;
    return "";
  }
  const char *name = in->text + in->at;
  in->at += count;
  *length = count;
  return name;
}

static void path(struct reader *in, int value);
static void type(struct reader *in);
static void constant(struct reader *in);

static int enter(struct reader *in) {
  if (in->depth++ >= DEEPEST) in->failed = 1;
  return !in->failed;
}

/* Reads again what stands earlier. */
static void back(struct reader *in, void (*read)(struct reader *)) {
  size_t start = in->at - 1;
  uint64_t target = base62(in);
  if (in->failed || target >= start) {
    in->failed = 1;
    return;
  }
  if (in->silent) return;
  size_t after = in->at;
  in->at = (size_t)target;
  read(in);
  in->at = after;
}
static void value_path(struct reader *in) { path(in, 1); }
static void type_path(struct reader *in) { path(in, 0); }

static void lifetime(struct reader *in) { base62(in); }

static void arguments(struct reader *in) {
  for (int first = 1; !in->failed && !skip(in, 'E');) {
    if (skip(in, 'L')) {
      lifetime(in);
      continue;
    }
    if (!first) put(in, ", ");
    first = 0;
    if (skip(in, 'K'))
      constant(in);
    else
      type(in);
  }
}

static void silently(struct reader *in, void (*read)(struct reader *)) {
  int before = in->silent;
  in->silent = 1;
  read(in);
  in->silent = before;
}

static void path(struct reader *in, int value) {
  if (!enter(in)) return;
  char c = next(in), space;
  const char *name;
  size_t length, before;
  uint64_t nth;
  switch (c) {
  case 'C':
    disambiguator(in);
    name = identifier(in, &length);
    put_bytes(in, name, length);
    break;
  case 'N':
    space = next(in);
    path(in, value);
    nth = disambiguator(in);
    name = identifier(in, &length);
    if (space >= 'A' && space <= 'Z') { /* closures and what else the compiler made */
      char number[24];
      size_t digits = sizeof number;
      number[--digits] = 0;
      for (uint64_t n = nth;; n /= 10) {
        number[--digits] = (char)('0' + n % 10);
        if (n < 10) break;
      }
      put(in, "::{");
      put(in, space == 'C' ? "closure" : space == 'S' ? "shim" : "made");
      if (length) put(in, ":");
      put_bytes(in, name, length);
      put(in, "#");
      put(in, number + digits);
      put(in, "}");
    } else if (length) {
      put(in, "::");
      put_bytes(in, name, length);
    }
    break;
  case 'M':
    disambiguator(in);
    silently(in, type_path);
    type(in);
    break;
  case 'X':
  case 'Y':
    if (c == 'X') {
      disambiguator(in);
      silently(in, type_path);
    }
    put(in, "<");
    type(in);
    put(in, " as ");
    path(in, 0);
    put(in, ">");
    break;
  case 'I':
    path(in, value);
    length = in->used;
    put(in, value ? "::<" : "<");
    before = in->used;
    arguments(in);
    if (in->used == before)
      in->used = length; /* only lifetimes */
    else
      put(in, ">");
    break;
  case 'B': back(in, value ? value_path : type_path); break;
  default: in->failed = 1;
  }
  in->depth--;
}

static const char *basic(char c) {
  static const char *const names['z' - 'a' + 1] = {
    ['a' - 'a'] = "i8",  ['b' - 'a'] = "bool", ['c' - 'a'] = "char",  ['d' - 'a'] = "f64",   ['e' - 'a'] = "str",
    ['f' - 'a'] = "f32", ['h' - 'a'] = "u8",   ['i' - 'a'] = "isize", ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",
    ['m' - 'a'] = "u32", ['n' - 'a'] = "i128", ['o' - 'a'] = "u128",  ['p' - 'a'] = "_",     ['s' - 'a'] = "i16",
    ['t' - 'a'] = "u16", ['u' - 'a'] = "()",   ['v' - 'a'] = "...",   ['x' - 'a'] = "i64",   ['y' - 'a'] = "u64",
    ['z' - 'a'] = "!"};
  return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static void function_type(struct reader *in) {
  if (skip(in, 'G')) base62(in);
  if (skip(in, 'U')) put(in, "unsafe ");
  if (skip(in, 'K')) {
    size_t length;
    put(in, "extern \"");
    if (skip(in, 'C'))
      put(in, "C");
    else {
      const char *abi = identifier(in, &length);
      put_bytes(in, abi, length);
    }
    put(in, "\" ");
  }
  put(in, "fn(");
  for (int first = 1; !in->failed && !skip(in, 'E'); first = 0) {
    if (!first) put(in, ", ");
    type(in);
  }
  put(in, ")");
  if (skip(in, 'u')) return; /* returns nothing */
  put(in, " -> ");
  type(in);
}

static void dynamic_type(struct reader *in) {
  put(in, "dyn ");
  if (skip(in, 'G')) base62(in);
  for (int first = 1; !in->failed && !skip(in, 'E'); first = 0) {
    if (!first) put(in, " + ");
    path(in, 0);
    while (!in->failed && skip(in, 'p')) {
      size_t length;
      const char *name = identifier(in, &length);
      put(in, " {");
      put_bytes(in, name, length);
      put(in, " = ");
      type(in);
      put(in, "}");
    }
  }
  if (!skip(in, 'L')) in->failed = 1;
  lifetime(in);
}

static void type(struct reader *in) {
  if (!enter(in)) return;
  char c = peek(in);
  const char *name = basic(c);
  if (name) {
    in->at++;
    put(in, name);
  } else {
    switch (c) {
    case 'A':
    case 'S':
      in->at++;
      put(in, "[");
      type(in);
      if (c == 'A') {
        put(in, "; ");
        constant(in);
      }
      put(in, "]");
      break;
    case 'T':
      in->at++;
      put(in, "(");
      for (int first = 1; !in->failed && !skip(in, 'E'); first = 0) {
        if (!first) put(in, ", ");
        type(in);
      }
      put(in, ")");
      break;
    case 'R':
    case 'Q':
      in->at++;
      if (skip(in, 'L')) lifetime(in);
      put(in, c == 'R' ? "&" : "&mut ");
      type(in);
      break;
    case 'P':
    case 'O':
      in->at++;
      put(in, c == 'P' ? "*const " : "*mut ");
      type(in);
      break;
    case 'F':
      in->at++;
      function_type(in);
      break;
    case 'D':
      in->at++;
      dynamic_type(in);
      break;
    case 'B':
      in->at++;
      back(in, type);
      break;
    default: path(in, 0);
    }
  }
  in->depth--;
}

/* Numbers are printed as they stand, in hexadecimal; of other constants that there is one. */
static void constant(struct reader *in) {
  if (!enter(in)) return;
  if (skip(in, 'B'))
    back(in, constant);
  else if (skip(in, 'p'))
    put(in, "_");
  else if (basic(peek(in))) {
    char kind = next(in);
    int negative = skip(in, 'n');
    size_t start = in->at;
    while (!in->failed && peek(in) != '_') next(in);
    size_t digits = in->at - start;
    skip(in, '_');
    if (in->failed) return;
    if (kind == 'b')
      put(in, digits == 1 && in->text[start] == '1' ? "true" : "false");
    else {
      if (negative) put(in, "-");
      if (digits == 1 && in->text[start] <= '9')
        put_bytes(in, in->text + start, 1);
      else {
        put(in, "0x");
        put_bytes(in, in->text + start, digits);
      }
    }
  } else
    in->failed = 1;
  in->depth--;
}

static char *demangle_v0(const char *name) {
  struct reader in = {.text = name + 2};
  in.length = strcspn(in.text, ".$");
  if (peek(&in) < 'A' || peek(&in) > 'Z') return NULL; /* another version */
  in.out = malloc(MOST);
  if (!in.out) return NULL;
  path(&in, 1);
  if (in.failed || in.used == 0) {
    free(in.out);
    return NULL;
  }
  in.out[in.used] = 0;
  return in.out;
}

/* ---- the older one ---- */

/* "::h0123456789abcdef" at the end. */
static size_t without_hash(const char *demangled) {
  size_t length = strlen(demangled);
  if (length < 20 || strncmp(demangled + length - 19, "::h", 3)) return 0;
  for (size_t k = length - 16; k < length; k++)
    if (!strchr("0123456789abcdef", demangled[k])) return 0;
  return length - 19;
}

static size_t unescape(const char *from, size_t left, char *to, size_t *taken) {
  static const struct {
    const char *escaped, *plain;
  } known[] = {{"$LT$", "<"},  {"$GT$", ">"},  {"$RF$", "&"},  {"$BP$", "*"},  {"$LP$", "("},
               {"$RP$", ")"},  {"$C$", ","},   {"$SP$", "@"},  {"$u20$", " "}, {"$u22$", "\""},
               {"$u27$", "'"}, {"$u2b$", "+"}, {"$u3b$", ";"}, {"$u5b$", "["}, {"$u5d$", "]"},
               {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u7e$", "~"}, {"..", "::"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    size_t length = strlen(known[k].escaped);
    if (length > left || strncmp(from, known[k].escaped, length)) continue;
    *taken = length;
    memcpy(to, known[k].plain, strlen(known[k].plain));
    return strlen(known[k].plain);
  }
  *taken = 1;
  *to = *from;
  return 1;
}

char *qzi_rust_legacy(const char *demangled) {
  size_t length = without_hash(demangled), used = 0;
  char *out = length ? malloc(length + 1) : NULL;
  if (!out) return NULL;
  for (size_t at = 0, taken; at < length; at += taken) {
    int begins = at == 0 || (at > 1 && demangled[at - 1] == ':');
    if (begins && demangled[at] == '_' && demangled[at + 1] == '$')
      at++; /* stands before what could not begin a name */
    used += unescape(demangled + at, length - at, out + used, &taken);
  }
  out[used] = 0;
  return out;
}

char *qzi_rust_demangle(const char *name) { return strncmp(name, "_R", 2) ? NULL : demangle_v0(name); }

/* ---- whose it is ---- */

/* The crate that the path begins with: 1 of Rust's own, 0 another, -1 not told here (a reference back). */
static int crate_of(const char *at) {
  static const char *const crates[] = {"3std", "4core", "5alloc", "10std_detect", "9hashbrown"};
  while (*at == 'I' || *at == 'N' || *at == 'M' || *at == 'X' || *at == 'Y') {
    char c = *at++;
    if (c == 'N' && *at) at++;
    if ((c == 'M' || c == 'X') && *at == 's') at = strchr(at, '_') ? strchr(at, '_') + 1 : at + strlen(at);
  }
  if (*at++ != 'C') return -1;
  if (*at == 's') at = strchr(at, '_') ? strchr(at, '_') + 1 : at + strlen(at);
  for (size_t k = 0; k < sizeof crates / sizeof *crates; k++)
    if (!strncmp(at, crates[k], strlen(crates[k]))) return 1;
  return 0;
}

bool qzi_rust_standard(const char *name) { return !strncmp(name, "_R", 2) && crate_of(name + 2) == 1; }

bool qzi_rust_made_for(const char *name) {
  for (const char *at = strstr(name, "NC"); at; at = strstr(at + 2, "NC"))
    if (!strncmp(name, "_R", 2) && crate_of(at + 2) == 0) return true;
  return false;
}
