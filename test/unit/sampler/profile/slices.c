/* Slices of threads: equal ones are merged, they contain all of the time, and they stay within their limit. */
#include "sampler/profile/slices.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "test/support/check.h"

#define MS      UINT64_C(1000000)
#define THREADS 3u

static uint64_t sum_of(const struct qzi_file *file, uint32_t thread) {
  uint64_t sum = 0, end_ns = 0;
  for (uint64_t k = 1; k < qzi_file_count(file, QZ_SECTION_SLICES); k++) {
    const struct qz_slice *slice = &file->slices[k];
    if (slice->thread != thread) continue;
    CHECK(slice->start_ns >= end_ns);
    end_ns = slice->start_ns + slice->ns;
    sum += slice->ns;
  }
  return sum;
}

int main(void) {
  char why[600], name[] = "/tmp/slices-XXXXXX.quartz";
  CHECK(mkstemps(name, 7) >= 0);
  struct qzi_file file;
  struct qzi_replaceable any = {.any = 1};
  CHECK(!qzi_file_create(&file, name, &any, QZI_FILE_MIN_BYTES, why, sizeof why));
  struct qzi_slices slices = {0};
  CHECK(!qzi_slices_open(&slices, &file));
  CHECK(!qzi_file_room(&file, QZ_SECTION_ENTITIES, THREADS + 2));
  for (uint32_t k = 1; k <= THREADS + 1; k++) file.entities[k].instances = k > THREADS ? 2 : 1;

  struct qz_tuple as = {.thread = 1, .stack = 5, .state = QZ_STATE_USEFUL};
  for (uint64_t at = 1; at <= 10; at++) qzi_slice_add_slow(&slices, &as, at * MS, MS);
  CHECK(qzi_file_count(&file, QZ_SECTION_SLICES) == 2 && file.slices[1].ns == 10 * MS && file.slices[1].start_ns == 0);
  as.state = QZ_STATE_BLOCKED;
  qzi_slice_add_slow(&slices, &as, 12 * MS, 2 * MS);
  CHECK(qzi_file_count(&file, QZ_SECTION_SLICES) == 3 && file.slices[2].start_ns == 10 * MS);
  qzi_slice_add_slow(&slices, &as, 50 * MS, 2 * MS); /* not seen for long */
  CHECK(qzi_file_count(&file, QZ_SECTION_SLICES) == 4 && file.slices[3].start_ns == 48 * MS);

  as.thread = THREADS + 1; /* it shares its entity */
  qzi_slice_add_slow(&slices, &as, 50 * MS, MS);
  CHECK(qzi_file_count(&file, QZ_SECTION_SLICES) == 4 && file.slices[0].start_ns == MS && file.slices[0].ns == 0);

  /* far more than fit: they become coarser, and no time is lost */
  uint64_t capacity = file.head->sections[QZ_SECTION_SLICES].capacity, rounds = 20 * capacity;
  for (uint64_t k = 1; k <= rounds; k++)
    for (as.thread = 1; as.thread <= THREADS; as.thread++) {
      as.stack = (uint32_t)(k % 7);
      as.state = k % 2 ? QZ_STATE_USEFUL : QZ_STATE_BLOCKED;
      qzi_slice_add_slow(&slices, &as, 50 * MS + k * MS, MS);
    }
  CHECK(qzi_file_count(&file, QZ_SECTION_SLICES) <= capacity &&
        qzi_file_count(&file, QZ_SECTION_SLICES) > capacity / 8);
  CHECK(file.slices[0].ns >= 8 * MS && file.slices[0].start_ns == MS && !file.exhausted);
  CHECK(sum_of(&file, 1) == rounds * MS + 14 * MS && sum_of(&file, 2) == rounds * MS);
  qzi_slices_close(&slices);
  qzi_file_close(&file);
  unlink(name);
  return 0;
}
