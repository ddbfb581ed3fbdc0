/* Makes a profile with many tuples, to see what a report of it takes: bench_tuple_profile FILE TUPLES ENTITIES.
 *
 * 64 processors run threads chosen at random from ENTITIES, each in one of 4,096 call paths 8 deep through 512
 * procedures; some processors are idle. Snapshots are taken, by the sampler's own code, until there are so many
 * different tuples. */
#include "test/support/fake_session.h"
#include "sampler/snapshot/snapshot.h"
#include "sampler/util/clock.h"

enum { PROCESSORS = 64, DEPTH = 8, PATHS = 4096, PROCEDURES = 512, OF_ONE_START = 1000 };

static uint64_t state = 88172645463325252u;
static uint64_t draw(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 11) % below;
}

int main(int count, char **arguments) {
  if (count != 4) return fprintf(stderr, "usage: bench_tuple_profile FILE TUPLES ENTITIES\n"), 2;
  uint64_t wanted = strtoull(arguments[2], NULL, 10);
  uint32_t entities = (uint32_t)strtoul(arguments[3], NULL, 10);
  if (entities < PROCESSORS) return fprintf(stderr, "bench_tuple_profile: at least %d entities\n", PROCESSORS), 2;
  static struct qzi_file file;
  static struct qzi_sampler sampler;
  struct qz_session_view view;
  const char *clause;
  char why[200];
  struct fake fake = fake_make(PROCESSORS, entities, 2, 64);
  static uint16_t path[PATHS][DEPTH]; /* each shares its beginning with those before, as call paths do */
  for (unsigned k = 1; k < PATHS; k++)
    for (unsigned d = 0, kept = (unsigned)draw(DEPTH), from = (unsigned)draw(k); d < DEPTH; d++)
      path[k][d] = d < kept ? path[from][d] : (uint16_t)draw(PROCEDURES);
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
      const uint16_t *way = path[draw(PATHS)];
      while (QZ_WORD_DEPTH(fake_thread(&fake, t)->word) > 0) fake_pop(&fake, t);
      for (unsigned d = 0; d < DEPTH; d++) fake_push(&fake, t, 0x10000 + 64 * (uint64_t)way[d]);
      fake_run(&fake, p, p < idle ? QZ_STATE_IDLE : QZ_STATE_USEFUL, p < idle ? -1 : (int)t);
    }
    now_ns += 100000;
    CHECK(!qzi_snapshot(&sampler, now_ns));
  }
  printf("tuples %llu\n", (unsigned long long)file.head->sections[QZ_SECTION_TUPLES].count);
  CHECK(!qzi_file_finish(&file, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0));
  qzi_sampler_close(&sampler);
  qzi_file_close(&file);
  return 0;
}
