/* See thread_names.h. */
#include "thread_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/origin.h"
#include "generated.h"
#include "modules.h"
#include "sampler/util/array.h"

#define DEEPEST    512u /* maximum number of entries of a path that are examined */
#define VOTES_MOST 4096u
#define SHARE      0.9 /* a worker is named after a procedure that has at least this share of its time */

struct vote {
  uint32_t thread, procedure;
  uint64_t ns;
};
struct callables {
  struct qzi_interner *in;
  qz_symbols *symbols;
  uint8_t *whose; /* by entity: enum whose + 1; 0: not determined yet */
  struct vote *votes;
  struct qzi_table table; /* of votes */
  uint32_t count, room;
};
enum whose { OWN = 0, STANDARD, LIBRARY };

static enum whose look(struct callables *its, uint32_t index) {
  const struct qzi_file *file = its->in->file;
  const struct qz_entity *entity = &file->entities[index];
  enum qz_symbol_origin origin;
  if (qzi_entity_is_generated(entity)) return LIBRARY; /* a thread of a run-time system, whatever it executes */
  qz_symbols_entry(its->symbols, entity->address, &origin);
  if (origin != QZ_SYMBOL_OWN) return STANDARD;
  return qzi_modules_of_system(file, entity->module) ? LIBRARY : OWN;
}

static enum whose whose_is(struct callables *its, uint32_t index) {
  if (!its->whose[index]) its->whose[index] = (uint8_t)(1 + look(its, index));
  return (enum whose)(its->whose[index] - 1);
}

/* Whether it is Rust's procedure that marks where backtraces end; the closure that starts a thread is among its
 * template arguments. */
static int is_marker(struct callables *its, uint32_t index, struct qz_symbol *symbol) {
  qz_symbols_find(its->symbols, its->in->file->entities[index].address, QZ_SYMBOL_PROCEDURE, symbol);
  return strstr(symbol->name, "__rust_begin_short_backtrace::<") != NULL;
}

/* The program's outermost procedure on that path, inside the start routine; 0: none. OpenMP's threads have the path of
 * the region in place of the start routine (callpath/team_paths.c). */
static uint32_t callable_on(struct callables *its, uint32_t stack, uint64_t start) {
  const struct qzi_file *file = its->in->file;
  uint32_t path[DEEPEST], depth = 0, region = 0;
  for (uint32_t at = stack; at && depth < DEEPEST; at = file->stacks[at].parent)
    path[depth++] = file->stacks[at].entity;
  while (depth && (file->entities[path[depth - 1]].kind != QZ_ENTITY_PROCEDURE ||
                   file->entities[path[depth - 1]].address != start)) {
    uint32_t module = file->entities[path[--depth]].module;
    if (!region && module && qz_origin_of_module(file->strings + file->modules[module - 1].path) == QZ_ORIGIN_OPENMP)
      region = depth;
  }
  depth = depth ? depth - 1 : region;
  while (depth-- > 0) {
    struct qz_symbol symbol;
    if (file->entities[path[depth]].kind != QZ_ENTITY_PROCEDURE) continue;
    enum whose whose = whose_is(its, path[depth]);
    if (whose == OWN || (whose == STANDARD && is_marker(its, path[depth], &symbol))) return path[depth];
  }
  return 0;
}

static void vote(struct callables *its, uint32_t thread, uint32_t procedure, uint64_t ns) {
  uint32_t hash = qzi_hash(procedure, thread);
  QZI_TABLE_EACH(&its->table, hash, at) {
    if (its->votes[at - 1].thread != thread || its->votes[at - 1].procedure != procedure) continue;
    its->votes[at - 1].ns += ns;
    return;
  }
  if (its->count == VOTES_MOST || qzi_grow((void **)&its->votes, &its->room, its->count + 1, sizeof *its->votes))
    return;
  if (!qzi_table_add(&its->table, hash, its->count + 1))
    its->votes[its->count++] = (struct vote){thread, procedure, ns};
}

static void set_name(struct qzi_interner *in, struct qz_entity *thread, const char *name, size_t length) {
  if (length && !thread->name) thread->name = qzi_intern_text(in, name, length);
}

/* Whether the procedure identifies what the thread runs: the C++ library's state of a std::thread does, except for
 * functions, which all look alike. */
static int is_distinguished(struct callables *its, uint64_t address) {
  struct qz_symbol symbol;
  qz_symbols_find(its->symbols, address, QZ_SYMBOL_PROCEDURE, &symbol);
  return strstr(symbol.name, "_State_impl<") && !strstr(symbol.name, "(*)") && !strstr(symbol.name, "(&)") &&
         !strstr(symbol.name, "packaged_task<");
}

/* Sets the place of a thread that runs an object's operator(), if that is not inlined into the library's procedure, and
 * of that procedure. */
static void place_functor(struct callables *its, struct qz_entity *thread, const struct vote *best) {
  struct qz_symbol symbol;
  static const char operator[] = "::operator()";
  if (!best || its->in->file->entities[best->procedure].record) return;
  qz_symbols_find(its->symbols, its->in->file->entities[best->procedure].address, QZ_SYMBOL_PROCEDURE, &symbol);
  size_t length = strlen(symbol.name);
  if (length < sizeof operator|| strcmp(symbol.name + length - (sizeof operator- 1), operator) || !*symbol.file) return;
  struct qz_entity *procedure = &its->in->file->entities[qzi_intern_procedure(its->in, thread->address)];
  procedure->file = thread->file = qzi_intern_string(its->in, symbol.file);
  procedure->line = thread->line = symbol.line;
}

static void name_thread(struct callables *its, uint32_t index) {
  struct qzi_interner *in = its->in;
  struct qz_entity *thread = &in->file->entities[index];
  const struct vote *best = NULL;
  uint64_t all_ns = 0;
  for (size_t k = 0; k < its->count; k++) {
    const struct vote *one = &its->votes[k];
    if (one->thread != index) continue;
    all_ns += one->ns;
    if (!best || one->ns > best->ns) best = one;
  }
  enum whose whose = whose_is(its, index);
  struct qz_symbol symbol;
  if (is_distinguished(its, thread->address)) {
    place_functor(its, thread, best);
    return;
  }
  const struct qz_entity *runs = best ? &in->file->entities[best->procedure] : NULL;
  int known = runs && (whose == STANDARD || (double)best->ns >= SHARE * (double)all_ns);
  if (known && runs->record) { /* inlined */
    if (!thread->name) thread->name = runs->name;
    thread->file = runs->file;
    thread->line = runs->line;
  } else if (known) {
    is_marker(its, best->procedure, &symbol);
    const char *closure = strstr(symbol.name, "__rust_begin_short_backtrace::<");
    if (closure) {
      closure = strchr(closure, '<') + 1;
      size_t length = 0;
      for (int depth = 0; closure[length] && (depth || (closure[length] != ',' && closure[length] != '>')); length++) {
        depth += strchr("<([{", closure[length]) != NULL;
        depth -= strchr(">)]}", closure[length]) != NULL;
      }
      set_name(in, thread, closure, length);
    } else {
      set_name(in, thread, symbol.name, strlen(symbol.name));
    }
    if (strncmp(symbol.file, "/rustc/", 7)) { /* the place of the closure, unless it is unknown */
      thread->file = qzi_intern_string(in, symbol.file);
      thread->line = symbol.line;
    }
  } else if (whose == LIBRARY && thread->module) {
    const char *path = in->file->strings + in->file->modules[thread->module - 1].path, *slash = strrchr(path, '/');
    char text[300];
    int length = snprintf(text, sizeof text, "worker of %.256s", slash ? slash + 1 : path);
    set_name(in, thread, text, length > 0 ? (size_t)length : 0);
  }
}

void qzi_callables(struct qzi_interner *in, qz_symbols *symbols) {
  struct qzi_file *file = in->file;
  uint64_t entities = qzi_file_count(file, QZ_SECTION_ENTITIES), tuples = qzi_file_count(file, QZ_SECTION_TUPLES);
  struct callables its = {.in = in, .symbols = symbols, .whose = calloc(entities, 1)};
  uint8_t *wanted = calloc(entities, 1);
  int any = 0;
  for (uint32_t k = 1; its.whose && wanted && k < entities; k++) {
    const struct qz_entity *thread = &file->entities[k];
    if (thread->kind != QZ_ENTITY_THREAD || !thread->address || whose_is(&its, k) == OWN) continue;
    wanted[k] = 1;
    any = 1;
  }
  for (uint64_t k = 0; any && k < tuples; k++) {
    const struct qz_tuple *tuple = &file->tuples[k];
    if (!wanted[tuple->thread]) continue;
    uint32_t procedure = callable_on(&its, tuple->stack, file->entities[tuple->thread].address);
    if (procedure) vote(&its, tuple->thread, procedure, tuple->ns);
  }
  for (uint32_t k = 1; any && k < entities; k++)
    if (wanted[k]) name_thread(&its, k);
  free(wanted);
  free(its.whose);
  free(its.votes);
  qzi_table_free(&its.table);
}
