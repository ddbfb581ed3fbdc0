/* Names and paths as people write them. Owns nothing; pure functions of strings. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* Of bodies of OpenMP regions, by gcc and clang; what follows is part of their names. */
static const char *const region_suffixes[] = {"._omp_fn.", ".omp_outlined"};
static const char *const clone_suffixes[] = {"@",      ".cold",      ".part.",      ".constprop.", ".isra.",
                                             ".llvm.", ".lto_priv.", ".localalias", ".clone.",     ".resolver"};

/* Where the first of the suffixes begins; NULL: `name` has none of them. */
static const char *first_suffix(const char *name, const char *const *suffixes, size_t count) {
  const char *first = NULL;
  for (size_t k = 0; k < count; k++) {
    const char *at = strstr(name, suffixes[k]);
    if (at && at > name && (!first || at < first)) first = at;
  }
  return first;
}

size_t qzi_name_base_length(const char *name) {
  const char *end = first_suffix(name, clone_suffixes, sizeof clone_suffixes / sizeof *clone_suffixes);
  return end ? (size_t)(end - name) : strlen(name);
}

size_t qzi_name_region(const char *name, size_t length) {
  const char *region = first_suffix(name, region_suffixes, sizeof region_suffixes / sizeof *region_suffixes);
  return region && region < name + length ? length - (size_t)(region - name) : 0;
}

static bool ends_with(const char *text, size_t length, const char *tail) {
  size_t tail_length = strlen(tail);
  return length >= tail_length && memcmp(text + length - tail_length, tail, tail_length) == 0;
}

/* Is the character at `at` part of an operator's name (operator<, operator(), operator->, ...)? Brackets there
 * are no brackets. Returns how many characters from `at` belong to it, 0 if none. */
static size_t operator_symbol(const char *text, size_t at) {
  static const char *const symbols[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">"};
  static const char word[] = "operator";
  size_t word_length = sizeof word - 1;
  if (at < word_length || memcmp(text + at - word_length, word, word_length) != 0) return 0;
  if (at > word_length) {
    char before = text[at - word_length - 1];
    if (before == '_' || ((before | 32) >= 'a' && (before | 32) <= 'z')) return 0; /* myoperator<int> */
  }
  for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++)
    if (strncmp(text + at, symbols[k], strlen(symbols[k])) == 0) return strlen(symbols[k]);
  return 0;
}

/* The parameter list is the last bracket pair at depth 0 outside template arguments; before the name there may be
 * a return type (templates have one), which ends at the last blank at depth 0 that is not part of an operator. */
void qzi_name_without_parameters(const char *demangled, char *out) {
  size_t length = strlen(demangled);
  const char *clone = strstr(demangled, " [clone ");
  if (clone) length = (size_t)(clone - demangled);

  int depth = 0;
  size_t open = length, name_start = 0;
  bool in_operator = false, parameters_seen = false;
  for (size_t at = 0; at < length; at++) {
    size_t skip = depth == 0 ? operator_symbol(demangled, at) : 0;
    if (skip) {
      at += skip - 1;
      continue;
    }
    char c = demangled[at];
    if (c == '(' && depth == 0) {
      /* "(anonymous namespace)" and the like are parts of the name; so is a list that "::" follows, as in
       * "f(int)::local" and "f()::{lambda()#1}::operator()". */
      int inner = 1;
      size_t end = at + 1;
      while (end < length && inner) {
        if (demangled[end] == '(') inner++;
        if (demangled[end] == ')') inner--;
        end++;
      }
      size_t after = end;
      static const char *const qualifiers[] = {" const", " volatile", " &&", " &"};
      for (size_t k = 0; k < 4; k++)
        if (strncmp(demangled + after, qualifiers[k], strlen(qualifiers[k])) == 0) after += strlen(qualifiers[k]);
      bool part = strncmp(demangled + after, "::", 2) == 0 || ends_with(demangled, at, "decltype") ||
                  ends_with(demangled, at, "decltype ");
      if (!part) {
        open = at;
        parameters_seen = true;
        break;
      }
      at = after - 1;
      continue;
    }
    if (c == '<' || c == '{' || c == '[') depth++;
    if (c == '>' || c == '}' || c == ']') {
      if (depth > 0) depth--;
    }
    if (depth == 0 && c == ' ' && !in_operator) {
      if (ends_with(demangled, at, "operator"))
        in_operator = true; /* conversion, new, delete */
      else if (at + 1 < length && demangled[at + 1] == '<')
        continue; /* operator<< <char> */
      else
        name_start = at + 1;
    }
  }
  /* "vtable for X", "guard variable for X", "typeinfo for X": not procedures; kept whole. */
  if (!parameters_seen) {
    name_start = 0;
    open = length;
  }
  memcpy(out, demangled + name_start, open - name_start);
  out[open - name_start] = 0;
  if (!out[0]) {
    memcpy(out, demangled, length);
    out[length] = 0;
  }
}

bool qzi_name_fortran(const char *linkage, char *out) {
  const char *separator = strncmp(linkage, "__", 2) ? NULL : strstr(linkage + 2, "_MOD_");
  if (!separator || separator == linkage + 2 || !separator[5]) return false;
  size_t module = (size_t)(separator - linkage - 2);
  memcpy(out, linkage + 2, module);
  memcpy(out + module, "::", 2);
  memcpy(out + module + 2, separator + 5, strlen(separator + 5) + 1);
  return true;
}

bool qzi_name_critical(const char *linkage, char *out) {
  static const char start[] = ".gomp_critical_user_", end[] = ".var"; /* LLVM's */
  if (strncmp(linkage, start, sizeof start - 1) != 0) return false;
  const char *name = linkage + sizeof start - 1;
  size_t length = strlen(name);
  if (length >= sizeof end - 1 && !strcmp(name + length - (sizeof end - 1), end)) length -= sizeof end - 1;
  strcpy(out, "omp critical");
  if (length) strncat(strcat(out, "("), name, length), strcat(out, ")");
  return true;
}

bool qzi_name_variant(const char *name, char *out) {
  static const char *const families[] = {"__str", "__stp", "__mem", "__wcs", "__wmem", "__rawmem"};
  static const char *const processors[] = {"_evex", "_avx", "_sse", "_ssse", "_erms"};
  size_t length = 0;
  for (size_t k = 0; k < sizeof families / sizeof *families && !length; k++)
    if (!strncmp(name, families[k], strlen(families[k])) && name[strlen(families[k])] != '_') length = strlen(name);
  for (size_t k = 0; k < sizeof processors / sizeof *processors && length; k++) {
    const char *at = strstr(name, processors[k]);
    if (at && (size_t)(at - name) < length) length = (size_t)(at - name);
  }
  if (!length || !name[length]) return false;
  memcpy(out, name + 2, length - 2);
  out[length - 2] = 0;
  return true;
}

void qzi_path_normalize(char *path) {
  if (path[0] != '/') return;
  char *out = path;
  const char *in = path;
  while (*in) {
    while (*in == '/') in++;
    size_t part = strcspn(in, "/");
    if (part == 0) break;
    if (part == 1 && in[0] == '.') {
      in += part;
      continue;
    }
    if (part == 2 && in[0] == '.' && in[1] == '.') {
      while (out > path && *--out != '/') {}
      in += part;
      continue;
    }
    *out++ = '/';
    memmove(out, in, part);
    out += part;
    in += part;
  }
  if (out == path) *out++ = '/';
  *out = 0;
}
