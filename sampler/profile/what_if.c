/* Names of "what if" questions. See what_if.h. */
#include "what_if.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "modules.h"

#define FACTOR_MOST 1000.0

int qzi_what_if_parse(struct qz_what_if *question, const char *text) {
  const char *equals = strrchr(text, '=');
  size_t length = equals ? (size_t)(equals - text) : strlen(text);
  double factor = 0;
  if (equals) {
    if (!isdigit((unsigned char)equals[1]) && equals[1] != '.') return -1;
    if (strspn(equals + 1, "0123456789.eE+-") != strlen(equals + 1)) return -1;
    char *end;
    factor = strtod(equals + 1, &end);
    if (*end || end == equals + 1 || !(factor >= 0 && factor <= FACTOR_MOST)) return -1;
  }
  if (!length || length >= QZ_WHAT_IF_NAME) return -1;
  *question = (struct qz_what_if){.kind = QZ_WHAT_IF_LOCK, .factor = (uint64_t)(factor * (double)QZ_WHAT_IF_ONE + 0.5)};
  memcpy(question->name, text, length);
  return 0;
}

#ifdef QUARTZ_SYMBOLS
static uint32_t named(qz_symbols *symbols, const char *name, bool data, struct qz_symbol_place *places) {
  return (uint32_t)qz_symbols_named(symbols, name, data, places, QZ_WHAT_IF_PLACES);
}

static void resolve(struct qz_what_if *question, qz_symbols *symbols) {
  struct qz_symbol_place places[QZ_WHAT_IF_PLACES];
  char name[QZ_WHAT_IF_NAME];
  memcpy(name, question->name, sizeof name);
  char *creator = strrchr(name, '@');
  question->entries = question->creators = 0;
  question->kind = QZ_WHAT_IF_PROCEDURE;
  if (creator && creator > name && creator[1]) {
    *creator++ = 0;
    question->kind = QZ_WHAT_IF_SITE;
    question->creators = named(symbols, creator, false, places);
    for (uint32_t k = 0; k < question->creators; k++) {
      question->creator[k].low = places[k].low;
      question->creator[k].high = places[k].high;
    }
  }
  question->entries = named(symbols, name, false, places);
  for (uint32_t k = 0; k < question->entries; k++) question->entry[k] = places[k].low;
  if (question->kind == QZ_WHAT_IF_SITE || question->entries) return;
  question->kind = QZ_WHAT_IF_LOCK;
  question->creators = named(symbols, name, true, places);
  for (uint32_t k = 0; k < question->creators; k++) {
    question->creator[k].low = places[k].low;
    question->creator[k].high = places[k].high;
  }
}
#endif

void qzi_what_if_resolve(struct qz_what_if *questions, pid_t pid) {
#ifdef QUARTZ_SYMBOLS
  if (questions[0].kind == QZ_WHAT_IF_NONE) return;
  struct qzi_modules *modules = qzi_modules_read(pid);
  qz_symbols *symbols = modules ? qz_symbols_new() : NULL;
  for (uint32_t k = 0; symbols && k < modules->count; k++) {
    const struct qzi_module *module = &modules->all[k];
    qz_symbols_add_module(symbols, module->start, module->end, module->bias, module->path, module->build_id);
  }
  for (unsigned k = 0; symbols && k < QZ_WHAT_IFS; k++)
    if (questions[k].kind != QZ_WHAT_IF_NONE) resolve(&questions[k], symbols);
  if (symbols) qz_symbols_free(symbols);
  qzi_modules_free(modules);
#else
  (void)questions, (void)pid;
#endif
}
