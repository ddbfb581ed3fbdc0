/* See inline_frames.h. */
#include "inline_frames.h"

#ifdef QUARTZ_SYMBOLS
#include <pthread.h>
#include <string.h>
#include <time.h>
#include "sampler/util/array.h"
#include "sampler/callpath/code_loops.h"
#include "symbols/symbols.h"
#include "sampler/util/clock.h"

#define UNDER_WAY   64u                 /* maximum number of unanswered questions */
#define PLACES_MOST 65536u              /* maximum number of instructions */
#define SHARE       50u                 /* at most 1/SHARE of the time may be spent on reading */
#define HEADSTART   UINT64_C(100000000) /* ns allowed in addition at first, because what is read first is used most */
#define REST_MS     20
/* ns of a snapshot that finding answers immediately may take; what is asked later waits for the reading thread, so that
 * new code holds up no snapshot */
#define QUICK_NS    UINT64_C(100000)
/* Number of stack nodes from which on paths contain only procedures and loops, no source lines. */
#define LINES_UNTIL (UINT64_C(1) << 18)

struct answer {
  uint32_t place;
  uint32_t count;
  uint64_t cpu_ns;
  struct qz_symbol found[QZI_INLINED_MOST]; /* its strings belong to `symbols` */
  uint32_t loops_count;
  struct qzi_found_loop loops[QZI_CODE_LOOPS_MOST];
  struct qz_symbol lines[QZI_INLINED_MOST + 1]; /* file and line in each of these scopes; the procedure comes first */
};

/* An instruction. */
struct place {
  uint64_t pc, entry;
  uint32_t first; /* index of the first of its entities; 0: none, or not known yet */
  uint32_t count;
  uint32_t lists; /* index of the first of its lists of loops; 0: none */
};

/* Loops directly nested in each other, and the source line inside them. */
struct loop_list {
  uint32_t first, count; /* indices into `entities` */
  uint32_t line;         /* entity; 0: not known */
};

struct qzi_inlining {
  struct qzi_interner *in;
  struct qzi_table table; /* places by pc */
  struct place *places;
  uint32_t places_count, places_room;
  uint32_t *entities; /* of all places; element 0 is unused */
  uint32_t entities_count, entities_room;
  struct loop_list *lists; /* of all places; element 0 is unused */
  uint32_t lists_count, lists_room;
  uint32_t under_way;
  uint64_t quick_ns; /* spent in this snapshot on answers that were found immediately */

  pthread_t thread;
  int started;
  pthread_mutex_t lock; /* protects the following members */
  pthread_cond_t asked;
  int stop;
  struct {
    uint32_t place;
    uint64_t pc, entry;
  } questions[UNDER_WAY];
  struct answer answers[UNDER_WAY]; /* has room for all unanswered questions */
  uint32_t questions_count, answers_count;

  pthread_mutex_t reading; /* protects the following members */
  qz_symbols *symbols;
  uint32_t symbols_modules;
  struct qzi_code_loops *loops; /* NULL: loops are not searched */
};

/* ---- the reading thread ---- */

static void learn_modules(struct qzi_inlining *inlining) {
  const struct qzi_file *file = inlining->in->file;
  uint64_t count = __atomic_load_n(&file->head->sections[QZ_SECTION_MODULES].count,
                                   __ATOMIC_ACQUIRE); /* the aggregating thread appends modules */
  for (; inlining->symbols_modules < count; inlining->symbols_modules++) {
    const struct qz_module *module = &file->modules[inlining->symbols_modules];
    qz_symbols_add_module(inlining->symbols, module->start, module->end, module->bias, file->strings + module->path,
                          file->strings + module->build_id);
  }
}

/* Waits for a question, and until reading is within its share of time. Returns 0 when the thread is to end. */
static int next_question(struct qzi_inlining *inlining, uint64_t first_ns, struct answer *answer, uint64_t *pc,
                         uint64_t *entry) {
  for (;;) {
    if (inlining->stop) return 0;
    int may = qzi_thread_cpu_ns() * SHARE < qzi_clock_ns() - first_ns + HEADSTART * SHARE;
    if (may && inlining->questions_count) break;
    if (may) {
      pthread_cond_wait(&inlining->asked, &inlining->lock);
    } else {
      struct timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
      until.tv_nsec += REST_MS * 1000000;
      until.tv_sec += until.tv_nsec / 1000000000;
      until.tv_nsec %= 1000000000;
      pthread_cond_timedwait(&inlining->asked, &inlining->lock, &until);
    }
  }
  inlining->questions_count--;
  answer->place = inlining->questions[0].place;
  *pc = inlining->questions[0].pc;
  *entry = inlining->questions[0].entry;
  memmove(inlining->questions, inlining->questions + 1, inlining->questions_count * sizeof *inlining->questions);
  return 1;
}

/* Finds the inlined procedures and loops at the instruction; the caller holds `reading`. */
static void find(struct qzi_inlining *inlining, uint64_t pc, uint64_t entry, struct answer *answer) {
  answer->count = (uint32_t)qz_symbols_inlined(inlining->symbols, pc, answer->found, QZI_INLINED_MOST);
  answer->loops_count = inlining->loops
                          ? qzi_code_loops_at(inlining->loops, inlining->symbols, inlining->in->file->head->pid, pc,
                                              entry, answer->found, answer->count, answer->loops)
                          : 0;
  for (uint32_t k = 0; k <= answer->count; k++)
    if (!qz_symbols_scope_line(inlining->symbols, pc, k, &answer->lines[k])) answer->lines[k].line = 0;
}

static void *read_main(void *argument) {
  struct qzi_inlining *inlining = argument;
  struct answer answer = {0};
  uint64_t pc, entry, first_ns = qzi_clock_ns(), before_ns = 0;
  pthread_mutex_lock(&inlining->lock);
  while (next_question(inlining, first_ns, &answer, &pc, &entry)) {
    pthread_mutex_unlock(&inlining->lock);
    pthread_mutex_lock(&inlining->reading);
    learn_modules(inlining);
    find(inlining, pc, entry, &answer);
    pthread_mutex_unlock(&inlining->reading);
    uint64_t now_ns = qzi_thread_cpu_ns();
    answer.cpu_ns = now_ns - before_ns;
    before_ns = now_ns;
    pthread_mutex_lock(&inlining->lock);
    inlining->answers[inlining->answers_count++] = answer;
  }
  pthread_mutex_unlock(&inlining->lock);
  return NULL;
}

/* ---- the aggregating thread ---- */

struct qzi_inlining *qzi_inlining_open(struct qzi_interner *in) {
  struct qzi_inlining *inlining = calloc(1, sizeof *inlining);
  if (!inlining) return NULL;
  inlining->in = in;
  inlining->symbols = qz_symbols_new();
  inlining->loops = qzi_code_loops_open();
  pthread_mutex_init(&inlining->lock, NULL);
  pthread_mutex_init(&inlining->reading, NULL);
  pthread_cond_init(&inlining->asked, NULL);
  inlining->started = inlining->symbols && !pthread_create(&inlining->thread, NULL, read_main, inlining);
  if (inlining->started) return inlining;
  qzi_inlining_close(inlining);
  return NULL;
}

void qzi_inlining_close(struct qzi_inlining *inlining) {
  if (!inlining) return;
  if (inlining->started) {
    pthread_mutex_lock(&inlining->lock);
    inlining->stop = 1;
    pthread_cond_signal(&inlining->asked);
    pthread_mutex_unlock(&inlining->lock);
    pthread_join(inlining->thread, NULL);
  }
  qzi_code_loops_close(inlining->loops);
  if (inlining->symbols) qz_symbols_free(inlining->symbols);
  pthread_cond_destroy(&inlining->asked);
  pthread_mutex_destroy(&inlining->lock);
  pthread_mutex_destroy(&inlining->reading);
  qzi_table_free(&inlining->table);
  free(inlining->places);
  free(inlining->entities);
  free(inlining->lists);
  free(inlining);
}

static uint32_t inlined_entity(struct qzi_interner *in, uint32_t into, const struct qz_symbol *found) {
  return qzi_intern_inlined(in, into, qzi_intern_string(in, found->name), qzi_intern_string(in, found->file),
                            found->line);
}

/* Keeps the entities of the loops of one list, except those with the same source as the one before. */
static void keep_list(struct qzi_inlining *inlining, const struct answer *answer, uint32_t into, uint32_t after,
                      struct loop_list *list) {
  struct qzi_interner *in = inlining->in;
  const struct qz_symbol *line = &answer->lines[after];
  *list = (struct loop_list){.first = inlining->entities_count};
  if (line->line) {
    uint32_t scope = after ? inlined_entity(in, into, &answer->found[after - 1]) : into;
    list->line = scope ? qzi_intern_code_line(in, scope, qzi_intern_string(in, line->file), line->line) : 0;
  }
  for (uint32_t k = 0; k < answer->loops_count; k++) {
    const struct qzi_found_loop *loop = &answer->loops[k];
    if (loop->after != after) continue;
    uint32_t scope = loop->inlined ? inlined_entity(in, into, &loop->scope) : into;
    uint32_t entity =
      scope ? qzi_intern_code_loop(in, scope, qzi_intern_string(in, loop->file), loop->line, loop->address) : 0;
    if (!entity || (list->count && inlining->entities[inlining->entities_count - 1] == entity)) continue;
    inlining->entities[inlining->entities_count++] = entity;
    list->count++;
  }
}

static void keep_loops(struct qzi_inlining *inlining, const struct answer *answer, struct place *place) {
  int any = answer->loops_count > 0;
  for (uint32_t k = 0; k <= answer->count; k++) any |= answer->lines[k].line > 0;
  uint32_t into = any ? qzi_intern_procedure(inlining->in, place->entry) : 0;
  if (!inlining->lists_count) inlining->lists_count = 1;
  if (!into || place->count != answer->count ||
      qzi_grow((void **)&inlining->entities, &inlining->entities_room, inlining->entities_count + answer->loops_count,
               sizeof *inlining->entities) ||
      qzi_grow((void **)&inlining->lists, &inlining->lists_room, inlining->lists_count + place->count + 1,
               sizeof *inlining->lists))
    return;
  place->lists = inlining->lists_count;
  for (uint32_t after = 0; after <= place->count; after++)
    keep_list(inlining, answer, into, after, &inlining->lists[inlining->lists_count++]);
}

static void keep(struct qzi_inlining *inlining, const struct answer *answer) {
  struct qzi_interner *in = inlining->in;
  struct place *place = &inlining->places[answer->place];
  uint32_t into = answer->count ? qzi_intern_procedure(in, place->entry) : 0;
  if (into && !qzi_grow((void **)&inlining->entities, &inlining->entities_room,
                        inlining->entities_count + answer->count, sizeof *inlining->entities)) {
    place->first = inlining->entities_count;
    for (uint32_t k = 0; k < answer->count; k++) {
      uint32_t entity = inlined_entity(in, into, &answer->found[k]);
      if (entity) inlining->entities[inlining->entities_count++] = entity;
    }
    place->count = inlining->entities_count - place->first;
  }
  keep_loops(inlining, answer, place);
}

uint64_t qzi_inlining_take(struct qzi_inlining *inlining) {
  uint64_t cpu_ns = 0;
  if (inlining) inlining->quick_ns = 0;
  if (!inlining || !inlining->under_way || pthread_mutex_trylock(&inlining->lock)) return 0;
  uint32_t count = inlining->answers_count;
  for (uint32_t k = 0; k < count; k++) {
    keep(inlining, &inlining->answers[k]);
    cpu_ns += inlining->answers[k].cpu_ns;
  }
  inlining->answers_count = 0;
  inlining->under_way -= count;
  pthread_mutex_unlock(&inlining->lock);
  return cpu_ns;
}

/* Adds a place and returns its index + 1; 0: no room. */
static uint32_t add_place(struct qzi_inlining *inlining, uint32_t hash, uint64_t pc, uint64_t entry) {
  uint32_t at = inlining->places_count;
  if (at == PLACES_MOST ||
      qzi_grow((void **)&inlining->places, &inlining->places_room, at + 1, sizeof *inlining->places) ||
      qzi_table_add(&inlining->table, hash, at + 1))
    return 0;
  inlining->places[inlining->places_count++] = (struct place){.pc = pc, .entry = entry};
  return at + 1;
}

/* Finds the answer immediately if that takes only some microseconds, and this snapshot has not found too many; returns
 * 0 otherwise. */
static int look_up(struct qzi_inlining *inlining, uint32_t hash, uint64_t pc, uint64_t entry) {
  struct answer answer;
  if (inlining->quick_ns > QUICK_NS || pthread_mutex_trylock(&inlining->reading)) return 0;
  uint64_t begun_ns = qzi_clock_ns();
  int ready = inlining->symbols_modules == qzi_file_count(inlining->in->file, QZ_SECTION_MODULES) &&
              qz_symbols_inlined_ready(inlining->symbols, pc) &&
              (!inlining->loops || qzi_code_loops_ready(inlining->loops, inlining->symbols, pc, entry));
  uint32_t place = ready ? add_place(inlining, hash, pc, entry) : 0;
  if (place) {
    answer.place = place - 1;
    find(inlining, pc, entry, &answer);
    keep(inlining, &answer);
  }
  pthread_mutex_unlock(&inlining->reading);
  inlining->quick_ns += qzi_clock_ns() - begun_ns;
  return place != 0;
}

/* Leaves the instruction to the reading thread. If too many questions are unanswered, does nothing; the next time that
 * the instruction is seen tries again. */
static void ask(struct qzi_inlining *inlining, uint32_t hash, uint64_t pc, uint64_t entry) {
  if (inlining->under_way == UNDER_WAY || pthread_mutex_trylock(&inlining->lock)) return;
  uint32_t at = add_place(inlining, hash, pc, entry);
  if (at--) {
    inlining->questions[inlining->questions_count].place = at;
    inlining->questions[inlining->questions_count].entry = entry;
    inlining->questions[inlining->questions_count++].pc = pc;
    inlining->under_way++;
    pthread_cond_signal(&inlining->asked);
  }
  pthread_mutex_unlock(&inlining->lock);
}

int qzi_inlining_answered(const struct qzi_inlining *inlining) { return !inlining || !inlining->under_way; }

static uint32_t found(const struct place *place, const struct qzi_inlining *inlining, uint64_t *keys) {
  for (uint32_t k = 0; k < place->count; k++) keys[k] = QZI_KEY_INLINED | inlining->entities[place->first + k];
  return place->count;
}

uint32_t qzi_inlining_loops_at(const struct qzi_inlining *inlining, uint64_t pc, uint64_t entry) {
  uint32_t hash = qzi_hash(pc, 11);
  if (!inlining) return 0;
  QZI_TABLE_EACH(&inlining->table, hash, at)
  if (inlining->places[at - 1].pc == pc && inlining->places[at - 1].entry == entry)
    return inlining->places[at - 1].lists;
  return 0;
}

uint32_t qzi_inlining_loops(const struct qzi_inlining *inlining, uint32_t list, uint64_t *keys) {
  const struct loop_list *its = inlining && list ? &inlining->lists[list] : NULL;
  uint32_t count = its ? its->count < QZI_LOOPS_MOST ? its->count : QZI_LOOPS_MOST : 0;
  for (uint32_t k = 0; k < count; k++) keys[k] = QZI_KEY_INLINED | inlining->entities[its->first + k];
  if (its && its->line && qzi_file_count(inlining->in->file, QZ_SECTION_STACKS) < LINES_UNTIL)
    keys[count++] = QZI_KEY_INLINED | its->line;
  return count;
}

uint32_t qzi_inlining_at(struct qzi_inlining *inlining, uint64_t pc, uint64_t entry, uint64_t *keys) {
  if (!inlining) return 0;
  uint32_t hash = qzi_hash(pc, 11);
  QZI_TABLE_EACH(&inlining->table, hash, at) {
    const struct place *place = &inlining->places[at - 1];
    if (place->pc != pc || place->entry != entry) continue; /* the instruction of a library that was unloaded */
    return found(place, inlining, keys);
  }
  if (!look_up(inlining, hash, pc, entry)) {
    ask(inlining, hash, pc, entry);
    return 0;
  }
  return found(&inlining->places[inlining->places_count - 1], inlining, keys);
}

#else

struct qzi_inlining *qzi_inlining_open(struct qzi_interner *in) {
  return NULL;
}
void qzi_inlining_close(struct qzi_inlining *inlining) {}
uint64_t qzi_inlining_take(struct qzi_inlining *inlining) { return 0; }
uint32_t qzi_inlining_at(struct qzi_inlining *inlining, uint64_t pc, uint64_t entry, uint64_t *keys) { return 0; }
int qzi_inlining_answered(const struct qzi_inlining *inlining) { return 1; }
uint32_t qzi_inlining_loops_at(const struct qzi_inlining *inlining, uint64_t pc, uint64_t entry) { return 0; }
uint32_t qzi_inlining_loops(const struct qzi_inlining *inlining, uint32_t list, uint64_t *keys) { return 0; }

#endif
