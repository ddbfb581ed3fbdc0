/* See generated.h. */
#include "generated.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "generated_names.h"
#include "jit_options.h"
#include "sampler/linux/process.h"
#include "sampler/util/array.h"

#define PLACE_BITS  6u                    /* code of one procedure: HotSpot and V8 align more coarsely */
#define PLACES_MOST 32768u                /* what comes then has no place, and no name */
#define READ_MOST   (UINT64_C(256) << 20) /* bytes of a map */
#define BLOCK       (UINT32_C(1) << 16)
#define SLACK_NS    UINT64_C(2000000000) /* by which clocks of files and processes may differ */

struct place {
  uint64_t pc; /* the first one seen there */
  uint32_t number, entity, frame;
};

struct qzi_generated {
  int directory; /* the program's /tmp; -1: not known */
  struct qzi_process_identity identity;
  struct place *places; /* index + 1 is the number */
  uint32_t count, room;
  struct qzi_table table; /* finds numbers by pc >> PLACE_BITS */
};

/* Where the name of each place is in the file, by order of pc; length 0: nowhere. */
struct found {
  uint64_t pc, at;
  uint32_t number, length;
};

void qzi_generated_open(struct qzi_interner *in, pid_t pid) {
  struct qzi_generated *its = in->code ? in->code : calloc(1, sizeof *its);
  char name[64];
  if (!its) return;
  if (in->code && its->directory >= 0) close(its->directory);
  in->code = its;
  its->directory = -1;
  if (qzi_process_identity(pid, &its->identity)) return;
  snprintf(name, sizeof name, "/proc/%ld/root/tmp", (long)pid);
  its->directory = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void qzi_generated_close(struct qzi_interner *in) {
  struct qzi_generated *its = in->code;
  if (!its) return;
  if (its->directory >= 0) close(its->directory);
  qzi_table_free(&its->table);
  free(its->places);
  free(its);
  in->code = NULL;
}

/* ---- places ---- */

uint64_t qzi_generated_key(struct qzi_interner *in, uint64_t pc) {
  struct qzi_generated *its = in->code;
  uint32_t hash = qzi_hash(pc >> PLACE_BITS, 11);
  if (!its) return QZI_KEY_GENERATED;
  QZI_TABLE_EACH(&its->table, hash, number)
  if (its->places[number - 1].pc >> PLACE_BITS == pc >> PLACE_BITS) return QZI_KEY_GENERATED | number;
  if (its->count == PLACES_MOST || qzi_grow((void **)&its->places, &its->room, its->count + 1, sizeof *its->places) ||
      qzi_table_add(&its->table, hash, its->count + 1))
    return QZI_KEY_GENERATED;
  its->places[its->count] = (struct place){.pc = pc, .number = its->count + 1};
  return QZI_KEY_GENERATED | ++its->count;
}

static struct place *place_of(const struct qzi_interner *in, uint64_t key) {
  uint32_t number = (uint32_t)key;
  return in->code && number && number <= in->code->count ? &in->code->places[number - 1] : NULL;
}

uint32_t *qzi_generated_frame(struct qzi_interner *in, uint64_t key) {
  struct place *place = place_of(in, key);
  return place ? &place->frame : NULL;
}

uint32_t qzi_generated_entity(struct qzi_interner *in, uint64_t key) {
  const struct place *place = place_of(in, key);
  if (place && place->entity) return place->entity;
  if (!in->generated_entity) {
    uint32_t name = qzi_intern_string(in, "generated code");
    uint32_t entity = in->generated_entity = qzi_intern_inlined(in, 0, name, 0, 0);
    if (entity) {
      in->file->entities[entity].detail = qzi_intern_string(in, "generated while the program runs (JIT)");
      in->file->entities[entity].missing = QZ_MISSING_NAME;
    }
  }
  return in->generated_entity;
}

/* ---- the map ---- */

/* Opens the map, if it is a file of the program's user that was written while the program ran. */
static int open_map(const struct qzi_generated *its) {
  char name[64];
  struct stat status;
  snprintf(name, sizeof name, "perf-%ld.map", (long)its->identity.inner_pid);
  int fd = its->directory < 0 ? -1 : openat(its->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -1;
  uint64_t written_ns = 0;
  if (!fstat(fd, &status))
    written_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
  if (written_ns && S_ISREG(status.st_mode) && status.st_uid == its->identity.user &&
      written_ns + SLACK_NS >= its->identity.started_realtime_ns)
    return fd;
  close(fd);
  return -1;
}

static int by_pc(const void *a, const void *b) {
  const struct found *one = a, *other = b;
  return one->pc < other->pc ? -1 : one->pc > other->pc;
}

/* Notes where the name is of all places between start and end. */
static void note(struct found *found, uint32_t count, uint64_t start, uint64_t end, uint64_t at, size_t length) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (found[middle].pc < start)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < count && found[low].pc < end; low++) {
    found[low].at = at;
    found[low].length = length < QZI_GENERATED_NAME * 2 ? (uint32_t)length : QZI_GENERATED_NAME * 2;
  }
}

/* Reads all lines. One that is longer than a block is left out. */
static void read_lines(int fd, struct found *found, uint32_t count) {
  char *block = malloc(BLOCK);
  uint64_t at = 0, start, end; /* at: of the block's beginning, which is that of a line, */
  int broken = 0;              /* except after a line that was too long */
  while (block && at < READ_MOST) {
    ssize_t got = pread(fd, block, BLOCK, (off_t)at);
    if (got <= 0) break;
    const char *line = block, *behind = block + got, *newline, *name;
    while ((newline = memchr(line, '\n', (size_t)(behind - line)))) {
      if (!broken && !qzi_generated_line(line, (size_t)(newline - line), &start, &end, &name))
        note(found, count, start, end, at + (uint64_t)(name - block), (size_t)(newline - name));
      broken = 0;
      line = newline + 1;
    }
    if (line == block) { /* no newline: too long, or the last one, which may still be written */
      broken = 1;
      line = behind;
    }
    at += (uint64_t)(line - block);
  }
  free(block);
}

/* Gives the places the entities of their names. */
static void take_names(struct qzi_interner *in, int fd, const struct found *found, uint32_t count) {
  static struct qzi_generated_name name; /* too large for a stack; one thread at a time does this */
  char text[QZI_GENERATED_NAME * 2];
  for (uint32_t k = 0; k < count; k++) {
    struct place *place = &in->code->places[found[k].number - 1];
    if (!found[k].length || pread(fd, text, found[k].length, (off_t)found[k].at) != (ssize_t)found[k].length) continue;
    qzi_generated_tidy(text, found[k].length, &name);
    uint32_t its = qzi_intern_string(in, name.name), file = qzi_intern_string(in, name.file);
    if (its) place->entity = qzi_intern_inlined(in, 0, its, file, name.line);
  }
}

static void read_map(struct qzi_interner *in) {
  const struct qzi_generated *its = in->code;
  int fd = its->count ? open_map(its) : -1;
  struct found *found = fd >= 0 ? calloc(its->count, sizeof *found) : NULL;
  if (found) {
    for (uint32_t k = 0; k < its->count; k++)
      found[k] = (struct found){.pc = its->places[k].pc, .number = its->places[k].number};
    qsort(found, its->count, sizeof *found, by_pc);
    read_lines(fd, found, its->count);
    take_names(in, fd, found, its->count);
  }
  free(found);
  if (fd >= 0) close(fd);
}

void qzi_generated_name(struct qzi_interner *in) {
  if (!in->code || !in->generated_entity) return;
  read_map(in);
  struct qzi_file *file = in->file;
  uint64_t nodes = qzi_file_count(file, QZ_SECTION_STACKS), named = 0;
  for (uint64_t n = 1; n < nodes; n++) {
    if (!qzi_key_is_generated(in->node_keys[n])) continue;
    uint32_t entity = qzi_generated_entity(in, in->node_keys[n]);
    file->stacks[n].entity = entity;
    named += entity != in->generated_entity;
  }
  char clause[QZI_JIT_CLAUSE];
  qzi_jit_clause(file, in->code->identity.inner_pid, named > 0, clause);
  file->entities[in->generated_entity].detail = qzi_intern_string(in, clause);
}
