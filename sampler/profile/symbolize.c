/* Symbolizes a profile. See symbolize.h. */
#include "symbolize.h"

#include <stdio.h>
#include <string.h>
#include "abi/mpi_call.h"
#include "external_objects.h"
#include "generated.h"
#include "modules.h"
#include "object_places.h"

#ifdef QUARTZ_SYMBOLS
#include "thread_names.h"
#include "symbols/symbols.h"

/* A static object gets the name of its variable. */
static uint32_t variable_name(struct qzi_interner *in, qz_symbols *symbols, uint32_t index) {
  const struct qz_entity *entity = &in->file->entities[index];
  const struct qz_object *object = entity->record ? qz_session_object(in->view, entity->record) : NULL;
  uint64_t address = object ? qzi_object_address(object) : 0;
  const struct qzi_external *external = entity->kind == QZ_KIND_FUTEX ? qzi_external_of(in, index) : NULL;
  if (external) address = external->address;
  struct qz_symbol variable;
  if (!address || !qzi_intern_module(in, address) || !qz_symbols_variable(symbols, address, &variable)) return 0;
  return qzi_intern_string(in, variable.name);
}

/* The name of an object that is named after the procedure called there, and what that procedure implies; text 0:
 * none. */
struct called {
  uint32_t text;
  enum qz_library_wait wait;
  enum qz_naming naming;
};

/* "GOMP_barrier at solve.c:17": the procedure called, and the place of the call. */
static struct called place_name(struct qzi_interner *in, const char *called, const struct qz_symbol *site,
                                enum qz_library_wait wait) {
  char words[300];
  const char *file = strrchr(site->file, '/');
  int length = site->line
                 ? snprintf(words, sizeof words, "%s at %s:%u", called, file ? file + 1 : site->file, site->line)
                 : snprintf(words, sizeof words, "%s at %s", called, site->name);
  uint32_t text = length > 0 && (size_t)length < sizeof words ? qzi_intern_text(in, words, (size_t)length) : 0;
  return (struct called){text, wait, QZ_NAMING_PLACE};
}

/* Whether the site is in C++'s or Rust's own library, compiled into the program, so that none of the program's own code
 * is on the path. */
static int is_placeless(qz_symbols *symbols, uint64_t site) {
  enum qz_symbol_origin origin;
  return qz_symbols_entry(symbols, site - 1, &origin) && origin == QZ_SYMBOL_STANDARD;
}

/* Names a wait inside a library by the procedure that the program called, and by the place of the call; not for
 * internal procedures of the library. Procedures that C++'s library implements in headers are inlined at the site, or
 * called there. If the program's code jumped there as its last action (tail call), so that it is not on the path, the
 * name has no place. */
static struct called called_name(struct qzi_interner *in, qz_symbols *symbols, uint64_t called, uint64_t at,
                                 struct qz_symbol *site) {
  const struct called none = {0};
  struct qz_symbol procedure;
  char waits[256];
  int known = at && qz_symbols_inlined_call(symbols, at, &procedure) &&
              qz_symbols_waits_in(procedure.full_name, waits, sizeof waits);
  if (at && is_placeless(symbols, at)) {
    if (!known && !qz_symbols_waits_in(site->full_name, waits, sizeof waits)) return none;
    site->file = "";
    site->line = 0;
    site->detail = "none of the program's own code is on the path";
    return (struct called){qzi_intern_string(in, waits), qz_library_wait_of(waits), QZ_NAMING_OWN};
  }
  if (known) return place_name(in, waits, site, qz_library_wait_of(waits));
  if (!called || qz_symbols_find(symbols, called, QZ_SYMBOL_PROCEDURE, &procedure) != QZ_SYMBOL_FOUND) return none;
  if (qz_symbols_waits_in(procedure.full_name, waits, sizeof waits))
    return place_name(in, waits, site, qz_library_wait_of(waits));
  if (strstr(procedure.name, "::__") || !strcmp(procedure.name, "syscall")) return none;
  char text[128];
  return place_name(in, qz_mpi_name(procedure.name, text, sizeof text) ? text : procedure.name, site,
                    qz_library_wait_of(procedure.name));
}

/* Names a loop that tries a lock: recognized by its code, or because code of a library's lock is inlined there (TBB's,
 * whose loop is around its pauses). */
static struct called lock_name(struct qzi_interner *in, qz_symbols *symbols, uint32_t index,
                               const struct qz_symbol *site) {
  struct qz_symbol procedure;
  uint64_t at = in->file->entities[index].address;
  const struct qzi_external *external = qzi_external_of(in, index);
  int tries = (external && external->tries) || (qz_symbols_inlined_call(symbols, at, &procedure) &&
                                                (strstr(procedure.name, "mutex") || strstr(procedure.name, "::lock")));
  if (!tries || is_placeless(symbols, at)) return (struct called){0};
  return place_name(in, "spin lock", site, QZ_LIBRARY_WAIT_LOCK);
}

/* Whether the variable belongs to a library that the system installed. */
static int in_library(struct qzi_interner *in, uint64_t address) {
  return address && qzi_modules_of_system(in->file, qzi_intern_module(in, address));
}

/* Names waits inside a library, and loops, after the called procedure, if they have no name yet. */
static void take_called(struct qz_entity *entity, struct called called) {
  if (entity->name || !called.text) return;
  entity->name = called.text;
  entity->library_wait = (uint8_t)called.wait;
  entity->naming = (uint8_t)called.naming;
}

/* Origin of a procedure: that of its code; of a wait inside a library: that library's; otherwise that of the place that
 * created the object. */
static enum qz_origin origin_of(const struct qzi_interner *in, const struct qz_entity *entity,
                                const struct qzi_external *outside) {
  const struct qzi_file *file = in->file;
  uint32_t module = entity->module, called = outside && outside->called ? qzi_intern_module(in, outside->called) : 0;
  if (called) module = called;
  const char *path = module ? file->strings + file->modules[module - 1].path : "";
  uint64_t address = called ? outside->called : entity->address;
  if (address >= in->c_code.start && address < in->c_code.end) return QZ_ORIGIN_RUNTIME;
  if (qzi_entity_is_generated(entity))
    return qz_origin_of_generated(file->strings + entity->name, file->strings + entity->file);
  return entity->kind == QZ_ENTITY_PROCEDURE
           ? qz_origin_of(file->strings + entity->name, path, file->strings + entity->file)
           : qz_origin_of_module(path);
}

/* Purposes of a procedure, from its name and the module of its code. */
static uint32_t purposes_of(const struct qzi_file *file, const struct qz_entity *entity) {
  const char *path = entity->module ? file->strings + file->modules[entity->module - 1].path : "";
  return qz_purposes_of(entity->kind == QZ_ENTITY_THREAD, file->strings + entity->name, path);
}

static void find_names(struct qzi_interner *in, qz_symbols *symbols, uint32_t index,
                       const struct qzi_external *outside) {
  struct qz_entity *entity = &in->file->entities[index];
  struct qz_symbol symbol;
  enum qz_symbol_status status = QZ_SYMBOL_NAMELESS;
  if (entity->kind >= QZ_ENTITY_CODE_LOOP) return; /* its place was found when it was first seen */
  memset(&symbol, 0, sizeof symbol);
  if (entity->kind == QZ_ENTITY_PROCEDURE || entity->kind == QZ_ENTITY_THREAD) {
    if (!entity->address) return; /* a thread without a start routine, or an inlined procedure, which has its name */
    /* A library of the system may have much debug information in another file (unpacking the C library's takes 40 ms),
     * so only the names of its procedures are read. */
    int system = qzi_modules_of_system(in->file, entity->module);
    qz_symbols_find(symbols, entity->address, system ? QZ_SYMBOL_NAME : QZ_SYMBOL_PROCEDURE, &symbol);
    if (!entity->name) entity->name = qzi_intern_string(in, symbol.name);
  } else {
    if (!entity->address && entity->kind != QZ_KIND_FUTEX) return;
    if (entity->address) status = qz_symbols_find(symbols, entity->address, QZ_SYMBOL_SITE, &symbol);
    if (!entity->name && outside &&
        in_library(in, outside->address)) /* the name of a library's own variable says nothing to users */
      take_called(entity, called_name(in, symbols, outside->called, entity->address, &symbol));
    if (!entity->name) entity->name = variable_name(in, symbols, index);
    if (!entity->name && outside)
      take_called(entity, called_name(in, symbols, outside->called, entity->address, &symbol));
    if (!entity->name && entity->kind == QZ_KIND_LOOP) take_called(entity, lock_name(in, symbols, index, &symbol));
    if (!entity->name && status == QZ_SYMBOL_FOUND && !(symbol.file && *symbol.file)) {
      entity->name = qzi_intern_string(in, symbol.name);
      entity->naming = QZ_NAMING_INSIDE;
    }
  }
  if (entity->file) return; /* of a thread: the place of the procedure that it runs */
  if (symbol.file) entity->file = qzi_intern_string(in, symbol.file);
  entity->line = symbol.line;
  if (!symbol.detail || !*symbol.detail) return;
  entity->detail = qzi_intern_string(in, symbol.detail);
  entity->missing = (uint8_t)symbol.missing;
}

static void name_entity(struct qzi_interner *in, qz_symbols *symbols, uint32_t index,
                        const struct qzi_external *outside) {
  const struct qz_entity *entity = &in->file->entities[index];
  qz_symbols_within(symbols, entity->module, entity->address);
  find_names(in, symbols, index, outside);
  qz_symbols_within(symbols, 0, 0);
}

/* Sets the caller of each call site: the entry address of the procedure that contains the call. */
static void name_callers(struct qzi_interner *in, qz_symbols *symbols) {
  uint64_t count = qzi_file_count(in->file, QZ_SECTION_CALLS);
  for (uint64_t k = 0; k < count; k++) {
    struct qz_call_edge *edge = &in->file->calls[k];
    struct qz_symbol symbol;
    memset(&symbol, 0, sizeof symbol);
    if (!edge->site || edge->caller) continue;
    qz_symbols_find(symbols, edge->site, QZ_SYMBOL_SITE, &symbol);
    if (symbol.entry) edge->caller = qzi_intern_procedure(in, symbol.entry);
  }
  count = qzi_file_count(in->file, QZ_SECTION_SITES);
  for (uint64_t k = 0; k < count; k++) {
    struct qz_span_site *site = &in->file->sites[k];
    struct qz_symbol symbol;
    memset(&symbol, 0, sizeof symbol);
    if (!site->site || site->caller) continue;
    qz_symbols_find(symbols, site->site, QZ_SYMBOL_SITE, &symbol);
    if (!symbol.entry) continue;
    struct qz_symbol caller;
    memset(&caller, 0, sizeof caller);
    qz_symbols_find(symbols, symbol.entry, QZ_SYMBOL_PROCEDURE, &caller);
    if (symbol.file && caller.file && !strcmp(symbol.file, caller.file)) site->line = symbol.line;
    site->caller = qzi_intern_procedure(in, symbol.entry);
  }
}

/* Names each shared cache line after the static variable that contains its first word that is written. */
static void name_lines(struct qzi_interner *in, qz_symbols *symbols) {
  uint64_t count = qzi_file_count(in->file, QZ_SECTION_LINES);
  for (uint64_t k = 0; k < count; k++) {
    struct qz_shared_line *line = &in->file->lines[k];
    uint32_t written = 0;
    struct qz_symbol variable;
    for (unsigned user = 0; user < QZ_LINE_USERS; user++) written |= line->by[user].written;
    uint64_t address = line->address + (written ? 4 * (unsigned)__builtin_ctz(written) : 0);
    memset(&variable, 0, sizeof variable);
    if (!line->variable && qzi_intern_module(in, address) &&
        qz_symbols_find(symbols, address, QZ_SYMBOL_DATA, &variable) == QZ_SYMBOL_FOUND)
      line->variable = qzi_intern_string(in, variable.name);
  }
}

qz_symbols *qzi_symbols(struct qzi_interner *in) {
  const struct qzi_file *file = in->file;
  if (!in->symbols) in->symbols = qz_symbols_new();
  if (!in->symbols) return NULL;
  for (uint64_t modules = qzi_file_count(file, QZ_SECTION_MODULES); in->symbols_modules < modules;
       in->symbols_modules++) {
    const struct qz_module *module = &file->modules[in->symbols_modules];
    qz_symbols_add_module(in->symbols, module->start, module->end, module->bias, file->strings + module->path,
                          file->strings + module->build_id);
  }
  return in->symbols;
}

void qzi_symbols_close(struct qzi_interner *in) {
  if (in->symbols) qz_symbols_free(in->symbols);
  in->symbols = NULL;
  in->symbols_modules = 0;
}

static uint64_t library_entry(struct qzi_interner *in, uint64_t site) {
  enum qz_symbol_origin origin;
  return qz_symbols_serves(in->symbols, site) ? qz_symbols_entry(in->symbols, site - 1, &origin) : 0;
}

void qzi_symbolize(struct qzi_interner *in) {
  qz_symbols *symbols = qzi_symbols(in);
  if (!symbols) return;
  qzi_object_places_settle(in, library_entry);
  qzi_generated_name(in);
  name_callers(in, symbols);
  name_lines(in, symbols);
  uint64_t entities = qzi_file_count(in->file, QZ_SECTION_ENTITIES);
  qzi_callables(in, symbols);
  for (uint32_t k = 1; k < entities; k++) {
    struct qz_entity *entity = &in->file->entities[k];
    const struct qzi_external *outside =
      entity->kind == QZ_KIND_FUTEX || entity->kind == QZ_KIND_LOOP ? qzi_external_of(in, k) : NULL;
    name_entity(in, symbols, k, outside);
    entity->origin = (uint8_t)origin_of(in, entity, outside);
    if (entity->kind == QZ_ENTITY_PROCEDURE &&
        qz_library_wait_of(in->file->strings + entity->name) == QZ_LIBRARY_WAIT_DATA)
      entity->library_wait = QZ_LIBRARY_WAIT_DATA;
    entity->purposes = purposes_of(in->file, entity);
  }
}

#else

void qzi_symbols_close(struct qzi_interner *in) {}

void qzi_symbolize(struct qzi_interner *in) {
  static const char reason[] = "the sampler was built without libdw";
  uint32_t detail = qzi_intern_text(in, reason, sizeof reason - 1);
  uint64_t entities = qzi_file_count(in->file, QZ_SECTION_ENTITIES);
  for (uint64_t k = 1; k < entities; k++) {
    struct qz_entity *entity = &in->file->entities[k];
    entity->detail = detail;
    entity->missing = QZ_MISSING_NAME;
    if (entity->module)
      entity->origin = (uint8_t)qz_origin_of_module(in->file->strings + in->file->modules[entity->module - 1].path);
  }
}

#endif
