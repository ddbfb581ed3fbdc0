/* See generated_names.h. */
#include "generated_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

static int hexadecimal(const char **at, const char *end, uint64_t *value) {
  unsigned digits = 0;
  *value = 0;
  if (end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x') *at += 2;
  for (; *at < end && isxdigit((unsigned char)**at); (*at)++, digits++) {
    unsigned char digit = (unsigned char)**at;
    *value = *value << 4 | (uint64_t)(isdigit(digit) ? digit - '0' : tolower(digit) - 'a' + 10);
  }
  return digits >= 1 && digits <= 16 ? 0 : -1;
}

int qzi_generated_line(const char *line, size_t length, uint64_t *start, uint64_t *end, const char **name) {
  const char *at = line, *behind = line + length;
  uint64_t size;
  if (hexadecimal(&at, behind, start) || at == behind || *at++ != ' ') return -1;
  if (hexadecimal(&at, behind, &size) || at == behind || *at++ != ' ') return -1;
  while (at < behind && *at == ' ') at++;
  *end = *start + size;
  *name = at;
  return at < behind && size && *end > *start ? 0 : -1;
}

/* ---- names ---- */

struct text {
  const char *at;
  size_t length;
};

static struct text part(const char *from, const char *to) { return (struct text){from, (size_t)(to - from)}; }
static const char *behind(struct text text) { return text.at + text.length; }

static int begins(struct text text, const char *with) {
  return text.length >= strlen(with) && !memcmp(text.at, with, strlen(with));
}
static int drop(struct text *text, const char *prefix) {
  if (!begins(*text, prefix)) return 0;
  text->at += strlen(prefix);
  text->length -= strlen(prefix);
  return 1;
}
static void trim(struct text *text) {
  while (text->length && text->at[text->length - 1] == ' ') text->length--;
}

static void copy(struct text from, char to[QZI_GENERATED_NAME]) {
  size_t length = from.length < QZI_GENERATED_NAME - 1 ? from.length : QZI_GENERATED_NAME - 1;
  if (length) memcpy(to, from.at, length); /* no text has no place: memcpy may not be given NULL */
  to[length] = 0;
  for (size_t k = 0; k < length; k++) /* from a file that anybody may have written */
    if ((unsigned char)to[k] < ' ' || to[k] == 127) to[k] = '?';
}

/* Takes ":number" from the end. */
static int number(struct text *text, uint32_t *value) {
  size_t digits = 0;
  uint64_t sum = 0;
  while (digits < text->length && isdigit((unsigned char)text->at[text->length - digits - 1])) digits++;
  if (!digits || digits > 9 || digits == text->length || text->at[text->length - digits - 1] != ':') return -1;
  for (size_t k = text->length - digits; k < text->length; k++) sum = sum * 10 + (uint64_t)(text->at[k] - '0');
  text->length -= digits + 1;
  *value = (uint32_t)sum;
  return 0;
}

/* V8: "name file:line:column" behind the kind of function and a mark for the tier. A name may contain spaces ("get
 * size"), and so may a file. */
static int of_v8(struct text text, struct qzi_generated_name *its) {
  uint32_t column, line;
  if (!drop(&text, "JS:") && !drop(&text, "LazyCompile:") && !drop(&text, "Function:") && !drop(&text, "Script:") &&
      !drop(&text, "Eval:"))
    return 0;
  while (text.length && strchr("*~^+-'", text.at[0])) text = part(text.at + 1, behind(text));
  struct text name = text, file = {0};
  if (!number(&text, &column) && !number(&text, &line)) {
    const char *space = NULL, *last = NULL;
    for (const char *at = text.at; at < behind(text); at++) {
      if (*at != ' ') continue;
      struct text rest = part(at + 1, behind(text));
      if (!space && (begins(rest, "/") || begins(rest, "file:") || begins(rest, "node:"))) space = at;
      last = at;
    }
    if (!space) space = last;
    name = space ? part(text.at, space) : (struct text){0};
    file = space ? part(space + 1, behind(text)) : text;
    its->line = line;
  }
  drop(&file, "file://");
  copy(file, its->file);
  trim(&name);
  if (name.length)
    copy(name, its->name);
  else
    copy((struct text){"(anonymous)", 11}, its->name);
  return 1;
}

/* CPython: "py::qualified name:file". */
static int of_python(struct text text, struct qzi_generated_name *its) {
  if (!drop(&text, "py::")) return 0;
  const char *colon = memchr(text.at, ':', text.length);
  copy(part(text.at, colon ? colon : behind(text)), its->name);
  if (colon) copy(part(colon + 1, behind(text)), its->file);
  return 1;
}

/* The parameters at the end, with their brackets. */
static const char *parameters(struct text text) {
  unsigned depth = 0;
  for (const char *at = behind(text); at-- > text.at;) {
    if (*at == ')') depth++;
    if (*at == '(' && depth && !--depth) return at;
  }
  return NULL;
}

/* HotSpot, .NET, Mono: result type, module in brackets, name with class, parameters, tier in brackets. */
static struct text without_types(struct text text) {
  struct text whole = text;
  if (text.length && behind(text)[-1] == ']') { /* the tier */
    const char *at = behind(text) - 1;
    while (at > text.at && *at != '[') at--;
    if (at > text.at && at[-1] == ')') text = part(text.at, at);
  }
  const char *list = text.length && behind(text)[-1] == ')' ? parameters(text) : NULL;
  if (!list || list == text.at) return whole;
  text = part(text.at, list);
  trim(&text);
  unsigned depth = 0; /* of template arguments, which may contain spaces */
  for (const char *at = behind(text); at-- > text.at;) {
    if (*at == '>' || *at == ']') depth++;
    if ((*at == '<' || *at == '[') && depth) depth--;
    if (*at != ' ' || depth) continue;
    struct text last = part(at + 1, behind(text));
    int qualified = memchr(last.at, '.', last.length) || memchr(last.at, ':', last.length);
    return qualified ? last : text;
  }
  return text.length ? text : whole;
}

void qzi_generated_tidy(const char *text, size_t length, struct qzi_generated_name *its) {
  struct text all = {text, length};
  its->file[0] = 0;
  its->line = 0;
  if (all.length && behind(all)[-1] == '\r') all.length--;
  trim(&all);
  if (of_v8(all, its) || of_python(all, its)) return;
  copy(without_types(all), its->name);
}
