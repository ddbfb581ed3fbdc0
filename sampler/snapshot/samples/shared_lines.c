/* See shared_lines.h. */
#include "shared_lines.h"

#include <stdlib.h>
#include "sampler/linux/process_memory.h"
#include "sampler/machine_code/code_flow.h"

#define LINE         64u
/* ns: samples of different threads within this time of each other count as one turn */
#define TURN_NS      UINT64_C(20000000)
#define TURNS_LEAST  4u /* a line gets a row after this many turns, */
#define USER_LEAST   8u /* or when two threads that atomically change a word of it have this many samples each */
#define FORGOTTEN_NS UINT64_C(500000000)

int qzi_shared_lines_open(struct qzi_shared_lines *shared, struct qzi_interner *in, struct qzi_new_code *new_code) {
  *shared = (struct qzi_shared_lines){
    .in = in,
    .new_code = new_code,
    .lines = calloc(QZI_LINE_SETS, sizeof *shared->lines),
    .near = calloc(QZI_LINE_CODE, sizeof *shared->near),
  };
  if (shared->lines && shared->near) return 0;
  qzi_shared_lines_close(shared);
  return -1;
}

void qzi_shared_lines_close(struct qzi_shared_lines *shared) {
  free(shared->lines);
  free(shared->near);
  *shared = (struct qzi_shared_lines){.lines = NULL};
}

/* Whether there may be an atomic operation: a lock prefix, or an exchange with memory. */
static int may_lock(const unsigned char *bytes, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (bytes[k] == 0xf0 || bytes[k] == 0x86 || bytes[k] == 0x87) return 1;
  return 0;
}

/* Accesses of the code around pc; NULL: not known yet. own: of the program, so that all of them count. */
static const struct qzi_near *near_at(struct qzi_shared_lines *shared, uint32_t pid, uint64_t pc, int own) {
  struct qzi_near *near = &shared->near[qzi_hash(pc, 0) % QZI_LINE_CODE];
  if (near->pc == pc) return near;
  if (!qzi_new_code_may(shared->new_code)) return NULL;
  uint64_t begun_ns = qzi_clock_ns();
  unsigned char bytes[QZI_NEAR_BEFORE + QZI_NEAR_BEHIND];
  uint64_t from = pc - QZI_NEAR_BEFORE;
  size_t count = sizeof bytes;
  /* The memory after it may not be mapped. */
  if (qzi_program_read(pid, from, bytes, count)) count = QZI_NEAR_BEFORE + 16;
  if (count < sizeof bytes && qzi_program_read(pid, from, bytes, count)) count = 0;
  near->pc = pc;
  near->count = count && (own || QZI_THIS_MACHINE != QZI_X86_64 || may_lock(bytes, count))
                  ? qzi_near_accesses(bytes, count, from, pc, near->access)
                  : 0;
  qzi_new_code_spend(shared->new_code, begun_ns);
  return near;
}

static struct qzi_line *ways_of(struct qzi_shared_lines *shared, uint64_t address) {
  return shared->lines[qzi_hash(address / LINE, 0) % QZI_LINE_SETS];
}

static struct qzi_line *line_at(struct qzi_shared_lines *shared, uint64_t address) {
  struct qzi_line *ways = ways_of(shared, address);
  for (unsigned k = 0; k < QZI_LINE_WAYS; k++)
    if (ways[k].address == address) return &ways[k];
  return NULL;
}

/* Replaces the line that was not seen for the longest time; one with a row is kept for a while. Returns NULL if all are
 * kept. */
static struct qzi_line *add_line(struct qzi_shared_lines *shared, uint64_t address, uint64_t now_ns) {
  struct qzi_line *ways = ways_of(shared, address), *oldest = NULL;
  for (unsigned k = 0; k < QZI_LINE_WAYS; k++) {
    if (ways[k].row && now_ns - ways[k].seen_ns < FORGOTTEN_NS) continue;
    if (!oldest || ways[k].seen_ns < oldest->seen_ns) oldest = &ways[k];
  }
  if (oldest) *oldest = (struct qzi_line){.address = address, .its.address = address, .cpu = -1};
  return oldest;
}

static struct qz_line_user *user_of(struct qzi_line *line, uint32_t who, uint32_t thread) {
  for (unsigned k = 0; k < QZ_LINE_USERS; k++) {
    if (!line->users[k]) {
      line->users[k] = who;
      line->its.by[k] = (struct qz_line_user){.thread = thread};
    }
    if (line->users[k] == who) return &line->its.by[k];
  }
  return NULL;
}

static void publish(struct qzi_shared_lines *shared, struct qzi_line *line) {
  struct qzi_file *file = shared->in->file;
  if (!line->row) {
    uint64_t count = qzi_file_count(file, QZ_SECTION_LINES);
    if (count >= file->head->sections[QZ_SECTION_LINES].capacity || qzi_file_room(file, QZ_SECTION_LINES, 1)) return;
    file->lines[count] = line->its;
    qzi_file_append(file, QZ_SECTION_LINES, 1);
    line->row = (uint32_t)count + 1;
  }
  uint32_t variable = file->lines[line->row - 1].variable; /* set later, by symbolize.c */
  file->lines[line->row - 1] = line->its;
  file->lines[line->row - 1].variable = variable;
}

/* A sample of a thread that is about to access words of a line, or has just done so. */
struct use {
  uint32_t who, thread, procedure, stands; /* stands: number of samples that it stands for */
  int cpu;
  uint64_t now_ns;
};

static void count(struct qzi_line *line, const struct use *use, struct qz_line_user *user) {
  if (user)
    user->samples += use->stands;
  else
    line->its.others += use->stands;
  line->its.samples += use->stands;
  int apart = line->who && line->who != use->who && (line->cpu < 0 || line->cpu != use->cpu);
  if (apart && use->now_ns - line->seen_ns <= TURN_NS) line->its.turns++;
  line->who = use->who;
  line->cpu = use->cpu;
  line->seen_ns = use->now_ns;
}

/* Whether two threads change one word atomically, however seldom they are seen to do so at the same time. */
static int is_changed_by_two(const struct qzi_line *line, uint32_t stands) {
  uint16_t changed = 0;
  for (unsigned k = 0; k < QZ_LINE_USERS && line->users[k]; k++) {
    const struct qz_line_user *user = &line->its.by[k];
    if (!user->locked || user->samples < USER_LEAST * stands) continue;
    if (changed & user->written) return 1;
    changed |= user->written;
  }
  return 0;
}

static uint32_t words_of(uint64_t offset, unsigned bytes) {
  uint64_t first = offset / 4, last = (offset + bytes - 1) / 4;
  uint32_t words = 0;
  for (uint64_t word = first; word <= last && word < LINE / 4; word++) words |= 1u << word;
  return words;
}

static const uint8_t locked_bits[] = {
  [QZI_LOCKED_NOT] = 0, [QZI_LOCKED_CHANGE] = QZ_LOCKED_CHANGE, [QZI_LOCKED_COMPARE] = QZ_LOCKED_COMPARE};

/* The innermost procedure of a walk, including inlined ones. */
static uint32_t innermost(struct qzi_interner *in, const struct qzi_walk *walk) {
  uint64_t key = walk->count ? walk->entries[walk->count - 1] : walk->pc_entry;
  return key & QZI_KEY_GENERATED ? 0 : key & QZI_KEY_INLINED ? (uint32_t)key : qzi_intern_procedure(in, key);
}

/* Whether no other thread has been seen yet: then there is nobody to share a line with. */
static int is_first(struct qzi_shared_lines *shared, uint32_t index) {
  if (shared->several) return 0;
  if (!shared->first) shared->first = index + 1;
  shared->several = shared->first != index + 1;
  return !shared->several;
}

void qzi_shared_lines_look(struct qzi_shared_lines *shared, const struct qzi_sample *sample,
                           const struct qzi_walk *walk, uint32_t index, uint64_t now_ns) {
  if (!shared->lines || !sample->user || !walk->pc) return;
  struct qzi_interner *in = shared->in;
  if (is_first(shared, index)) return;
  const struct qzi_near *near = near_at(shared, in->file->head->pid, sample->at.pc, walk->pc_own);
  if (!near || !near->count) return;
  struct use use = {.who = index + 1,
                    .thread = in->memos[index].entity,
                    .procedure = innermost(in, walk),
                    .stands = sample->stands,
                    .cpu = sample->cpu,
                    .now_ns = now_ns};
  const struct qzi_line *counted[QZI_NEAR_ACCESSES];
  uint32_t lines = 0;
  for (uint32_t k = 0; k < near->count; k++) {
    const struct qzi_access *access = &near->access[k];
    if (!walk->pc_own && access->locked == QZI_LOCKED_NOT) continue;
    uint64_t at = qzi_access_at(access, sample->general), offset = at % LINE, address = at - offset;
    struct qzi_line *line = at ? line_at(shared, address) : NULL;
    if (!line && at && access->written) line = add_line(shared, address, now_ns);
    if (!line) continue;
    struct qz_line_user *user = user_of(line, use.who, use.thread);
    if (user) {
      if (access->written) user->written |= (uint16_t)words_of(offset, access->bytes);
      if (access->read) user->read |= (uint16_t)words_of(offset, access->bytes);
      user->locked |= locked_bits[access->locked];
      user->procedure = use.procedure;
    }
    uint32_t before = 0;
    while (before < lines && counted[before] != line) before++;
    if (before < lines) continue;
    counted[lines++] = line;
    count(line, &use, user);
    if (line->row || line->its.turns >= TURNS_LEAST || is_changed_by_two(line, use.stands)) publish(shared, line);
  }
}
