/* Fuzz target: a session of any content is refused, or sampled for some snapshots into a profile that satisfies the
 * invariants. */
#include "abi/session_read.h"
#include "mutate.h"
#include "test/support/invariants.h"
#include "sampler/snapshot/snapshot.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  struct qz_session_view view;
  static struct qzi_file file;
  static struct qzi_sampler sampler;
  const char *clause = NULL;
  char why[300], path[64];
  snprintf(path, sizeof path, "%s/quartz-fuzz-%ld", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
  void *memory = aligned_alloc(128, (bytes + 127) / 128 * 128 + 128);
  if (!memory) abort();
  memcpy(memory, data, bytes);
  if (qz_session_open_memory(&view, memory, bytes, &clause)) {
    if (!clause) abort();
    free(memory);
    return 0;
  }
  if (qzi_file_create(&file, path, &(struct qzi_replaceable){.any = 1}, UINT64_C(4) << 20, why, sizeof why)) abort();
  if (!qzi_sampler_open(&sampler, &view, &file, 1)) {
    if (qzi_sampler_base(&sampler, 1)) abort();
    for (unsigned k = 0; k < 3; k++) {
      qzi_snapshot(&sampler, 1000 * (k + 1));
      qzi_threads_visit(&sampler, 200);
      qzi_objects_visit(&sampler, 200, 1);
    }
    qzi_totals_read(&sampler);
    qzi_calls_read(&sampler);
    qzi_objects_read(&sampler);
    qzi_file_finish(&file, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0);
    struct qz_profile_copy profile;
    if (qz_profile_load(&profile, path, why, sizeof why)) {
      fprintf(stderr, "%s\n", why);
      abort();
    }
    check_invariants(&profile);
    if (invariant_failures) abort();
    qz_profile_unload(&profile);
    qzi_sampler_close(&sampler);
  }
  qzi_file_close(&file);
  unlink(path);
  free(memory);
  return 0;
}

#ifndef QUARTZ_LIBFUZZER
#include "seed.h"

/* Without an argument: the deterministic run. With one: writes the valid input to that file, as a seed for libFuzzer.
 */
int main(int argc, char **argv) {
  size_t bytes;
  uint8_t *seed = seed_session(&bytes);
  if (!seed) return 1;
  if (argc > 1) return mutate_write(argv[1], seed, bytes);
  int failed = mutate_run(seed, bytes, sizeof(struct qz_session), 1500);
  free(seed);
  return failed;
}
#endif
