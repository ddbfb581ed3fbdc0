/* Fuzz target: a profile file of any content is refused or read, and all references in it can be followed. Each input
 * is read as it is, and as an unfinished file, which no checksum protects. */
#include "abi/profile_read.h"
#include "mutate.h"

static volatile uint64_t sink;

static void read_one(const uint8_t *data, size_t bytes) {
  struct qz_profile_copy p;
  char why[200];
  if (qz_profile_load_memory(&p, data, bytes, why, sizeof why)) {
    if (!why[0]) abort(); /* a refusal has a reason */
    return;
  }
  uint64_t sum = strlen(qz_profile_string(&p, p.head.program)) + strlen(qz_profile_string(&p, p.head.arguments));
  for (size_t k = 0; k < p.entities_count; k++) {
    const struct qz_entity *e = &p.entities[k];
    sum += strlen(qz_profile_string(&p, e->name)) + strlen(qz_profile_string(&p, e->file));
    sum += strlen(qz_profile_string(&p, e->detail)) + (e->module ? p.modules[e->module - 1].start : 0);
  }
  for (size_t k = 0; k < p.tuples_count; k++)
    for (uint32_t node = p.tuples[k].stack; node; node = p.stacks[node].parent)
      sum += p.entities[p.stacks[node].entity].kind + p.entities[p.tuples[k].thread].kind;
  for (size_t k = 0; k < p.balance_count; k++) sum += p.head.processors - p.balance[k].busy - p.balance[k].spinning;
  for (size_t k = 0; k < p.blame_count; k++)
    sum += p.entities[p.blame[k].object].kind + p.stacks[p.blame[k].stack].entity + p.entities[p.blame[k].thread].kind;
  for (size_t k = 0; k < p.wait_overlap_count; k++)
    sum += p.entities[p.wait_overlap[k].object].kind + p.stacks[p.wait_overlap[k].stack].entity +
           p.entities[p.wait_overlap[k].thread].kind;
  for (size_t k = 0; k < p.calls_count; k++)
    sum += p.entities[p.calls[k].caller].kind + p.entities[p.calls[k].callee].kind;
  for (size_t k = 0; k < p.objects_count; k++) sum += p.entities[p.objects[k].entity].kind + p.objects[k].queue_ns[31];
  for (size_t k = 0; k < p.threads_count; k++)
    sum += p.entities[p.threads[k].entity].kind + p.entities[p.threads[k].creator].kind;
  for (size_t k = 0; k < p.timeline_count; k++) sum += p.entities[p.timeline[k].top].kind;
  for (size_t k = 0; k < p.processors_count; k++) sum += p.processors[k].useful_ns;
  sink = sum;
  qz_profile_unload(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  read_one(data, bytes);
  uint64_t magic = 0;
  if (bytes < sizeof(struct qz_profile_end)) return 0;
  memcpy(&magic, data, sizeof magic);
  if (magic != QZ_PROFILE_MAGIC) return 0;
  uint8_t *unfinished = malloc(bytes);
  if (!unfinished) return 0;
  magic = QZ_PROFILE_MAGIC_OPEN;
  memcpy(unfinished, data, bytes);
  memcpy(unfinished, &magic, sizeof magic);
  memset(unfinished + bytes - sizeof(struct qz_profile_end), 0, sizeof(struct qz_profile_end));
  read_one(unfinished, bytes);
  free(unfinished);
  return 0;
}

#ifndef QUARTZ_LIBFUZZER
#include <unistd.h>
#include "seed.h"

/* Without an argument: the deterministic run. With one: writes the valid input to that file, as a seed for libFuzzer.
 */
int main(int argc, char **argv) {
  size_t bytes;
  uint8_t *seed = seed_profile(&bytes);
  if (!seed) return 1;
  if (argc > 1) return mutate_write(argv[1], seed, bytes);
  int failed = mutate_run(seed, bytes, sizeof(struct qz_profile), 20000);
  free(seed);
  return failed;
}
#endif
