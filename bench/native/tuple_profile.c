/* Writes a profile with many tuples, to measure the cost of a report: bench_tuple_profile FILE TUPLES ENTITIES [code].
 * 64 processors run threads chosen at random from ENTITIES, each on one of 4,096 call paths 8 deep through 512
 * procedures; some processors are idle. The sampler's own code takes snapshots until there are that many different
 * tuples. With `code` there are 24,000 paths, on each of which a procedure, a loop in it and a line follow one another:
 * more than 100,000 contexts. */
#include "test/support/fake_session.h"
#include "sampler/snapshot/snapshot.h"
#include "sampler/util/clock.h"

enum { PROCESSORS = 64, DEPTH = 8, PATHS_MOST = 24000, PROCEDURES = 512, OF_ONE_START = 1000 };
static const unsigned kinds[] = {QZ_ENTITY_PROCEDURE, QZ_ENTITY_CODE_LOOP, QZ_ENTITY_CODE_LINE};

static uint64_t state = 88172645463325252u;
static uint64_t draw(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 11) % below;
}

static uint64_t key_of(uint16_t procedure) { return 0x10000 + 64 * (uint64_t)procedure; }

/* What was pushed as loops and lines becomes such: all of them in the first procedure. */
static void make_code(struct qzi_file *file) {
  uint32_t scope = 0;
  for (uint32_t e = 1; e < qzi_file_count(file, QZ_SECTION_ENTITIES); e++) {
    struct qz_entity *its = &file->entities[e];
    if (its->kind != QZ_ENTITY_PROCEDURE || its->address < key_of(0)) continue;
    its->kind = (uint8_t)kinds[(its->address - key_of(0)) / 64 / PROCEDURES];
    if (its->kind == QZ_ENTITY_PROCEDURE) {
      scope = scope ? scope : e;
      continue;
    }
    its->record = scope;
    its->line = (uint32_t)(its->address / 64);
  }
}

int main(int count, char **arguments) {
  if (count < 4) return fprintf(stderr, "usage: bench_tuple_profile FILE TUPLES ENTITIES [code]\n"), 2;
  int code = count > 4;
  unsigned paths = code ? PATHS_MOST : 4096;
  uint64_t wanted = strtoull(arguments[2], NULL, 10);
  uint32_t entities = (uint32_t)strtoul(arguments[3], NULL, 10);
  if (entities < PROCESSORS) return fprintf(stderr, "bench_tuple_profile: at least %d entities\n", PROCESSORS), 2;
  static struct qzi_file file;
  static struct qzi_sampler sampler;
  struct qz_session_view view;
  const char *clause;
  char why[200];
  struct fake fake = fake_make(PROCESSORS, entities, 2, 64);
  static uint16_t path[PATHS_MOST][DEPTH]; /* each begins like the previous ones, as call paths do */
  for (unsigned k = 1; k < paths; k++)
    for (unsigned d = 0, kept = (unsigned)draw(DEPTH), from = (unsigned)draw(k); d < DEPTH; d++)
      path[k][d] = d < kept ? path[from][d] : (uint16_t)(draw(PROCEDURES) + (code ? d % 3 * PROCEDURES : 0));
  for (unsigned d = 0; code && d < DEPTH; d++) path[0][d] = (uint16_t)(d % 3 * PROCEDURES);
  for (uint32_t t = 0; t < entities; t++) fake_create(&fake, t, t + 1, NULL, 0x1000 + 64 * (t / OF_ONE_START), -1);
  unlink(arguments[1]);
  CHECK(!qz_session_open(&view, fake.fd, &clause) &&
        !qzi_file_create(&file, arguments[1], &(struct qzi_replaceable){.any = 1}, QZI_FILE_DEFAULT_BYTES, why,
                         sizeof why));
  uint64_t now_ns = qzi_clock_ns();
  CHECK(!qzi_sampler_open(&sampler, &view, &file, now_ns) && !qzi_sampler_base(&sampler, 0));
  while (file.head->sections[QZ_SECTION_TUPLES].count < wanted) {
    uint32_t first = (uint32_t)draw(entities);
    unsigned idle = (unsigned)draw(PROCESSORS);
    for (uint32_t p = 0; p < PROCESSORS; p++) {
      uint32_t t = (first + p) % entities;
      const uint16_t *way = path[draw(paths)];
      while (QZ_WORD_DEPTH(fake_thread(&fake, t)->word) > 0) fake_pop(&fake, t);
      for (unsigned d = 0; d < DEPTH; d++) fake_push(&fake, t, key_of(way[d]));
      fake_run(&fake, p, p < idle ? QZ_STATE_IDLE : QZ_STATE_USEFUL, p < idle ? -1 : (int)t);
    }
    now_ns += 100000;
    CHECK(!qzi_snapshot(&sampler, now_ns));
  }
  printf("tuples %llu, contexts %llu\n", (unsigned long long)file.head->sections[QZ_SECTION_TUPLES].count,
         (unsigned long long)file.head->sections[QZ_SECTION_STACKS].count);
  if (code) make_code(&file);
  CHECK(!qzi_file_finish(&file, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0));
  qzi_sampler_close(&sampler);
  qzi_file_close(&file);
  return 0;
}
