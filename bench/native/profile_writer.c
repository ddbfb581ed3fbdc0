/* Writes a large profile, for measuring what reads it: profile FILE TUPLES ENTITIES PROCESSORS [STACKS].
 *
 * Of the entities 3/10 are threads, 1/10 mutexes, the rest procedures; stacks are a random tree, 3 to some 20 deep;
 * every snapshot is consistent, so that the invariants of docs/reference/metrics.md hold. The same arguments give the
 * same file.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/profile_write.h>

static uint64_t seed = 88172645463325252u;
static uint32_t below(uint32_t n) { /* xorshift64 (Marsaglia 2003) */
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)((seed >> 11) % n);
}
static void *make(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) {
    perror("bench_profile_writer");
    exit(1);
  }
  return memory;
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "use: %s FILE TUPLES ENTITIES PROCESSORS [STACKS]\n", argv[0]);
    return 2;
  }
  size_t tuples = strtoul(argv[2], NULL, 10), entities = strtoul(argv[3], NULL, 10);
  uint32_t P = (uint32_t)strtoul(argv[4], NULL, 10);
  size_t stacks = argc > 5 ? strtoul(argv[5], NULL, 10) : tuples / 5 + 1;
  uint32_t threads = (uint32_t)(entities * 3 / 10), locks = (uint32_t)(entities / 10);
  uint32_t procedures = (uint32_t)entities - threads - locks;
  uint32_t firstLock = procedures + 1, firstThread = firstLock + locks;

  char *strings = make(entities + 2, 24);
  uint32_t used = 1;
  struct qz_entity *entity = make(entities + 1, sizeof *entity);
  for (uint32_t e = 1; e <= entities; e++) {
    entity[e].kind = e >= firstThread ? QZ_ENTITY_THREAD : e >= firstLock ? QZ_KIND_MUTEX : QZ_ENTITY_PROCEDURE;
    entity[e].name = used;
    used += 1 + (uint32_t)sprintf(strings + used, "%s_%u",
                                  e >= firstThread ? "thread"
                                  : e >= firstLock ? "lock"
                                                   : "work",
                                  e);
    entity[e].file = entity[1].name;
    entity[e].line = e;
    entity[e].address = 0x10000 + 16 * e;
    entity[e].record = e;
    entity[e].instances = 1;
  }
  struct qz_stack_node *node = make(stacks + 1, sizeof *node);
  for (uint32_t n = 1; n <= stacks; n++) {
    node[n].parent = n < 8 ? n - 1 : n - 1 - below(n < 2000 ? n - 1 : n / 2); /* deep enough: parents are near */
    node[n].entity = below(10) ? 1 + below(procedures) : firstLock + below(locks ? locks : 1);
  }
  struct qz_tuple *tuple = make(tuples, sizeof *tuple);
  struct qz_balance *balance = make(tuples + 1, sizeof *balance);
  struct qz_processor_stats *processor = make(P, sizeof *processor);
  size_t made = 0, rows = 0;
  uint64_t elapsed = 0;
  while (made < tuples) { /* a snapshot: b busy, s spinning, some blocked */
    uint32_t b = 1 + below(P), s = below(P - b + 1) / 4, blocked = below(3), ready = below(4);
    uint64_t ns = 900000 + below(200000);
    elapsed += ns;
    uint32_t runnable = b + s + ready;
    if (runnable >= 64) runnable &= ~7u;
    struct qz_balance *row = &balance[rows++];
    *row = (struct qz_balance){.busy = (uint16_t)b,
                               .spinning = (uint16_t)s,
                               .runnable = runnable,
                               .count = 1,
                               .ns = ns,
                               .runnable_ns = runnable * ns};
    for (uint32_t k = 0; k < b + s + blocked; k++) {
      struct qz_tuple t = {.stack = 1 + below((uint32_t)stacks),
                           .thread = threads ? firstThread + below(threads) : 0,
                           .runnable = runnable,
                           .count = 1,
                           .ns = ns,
                           .runnable_ns = runnable * ns};
      t.state = k < b ? QZ_STATE_USEFUL : k < b + s ? QZ_STATE_SPINNING : QZ_STATE_BLOCKED;
      if (k < b + s) {
        t.busy = (uint16_t)b;
        t.spinning = (uint16_t)s;
        if (k < b)
          processor[k].useful_ns += ns;
        else
          processor[k].spinning_ns += ns;
      }
      if (made < tuples)
        tuple[made++] = t;
      else if (k < b + s)
        row->ns = row->ns;
    }
    for (uint32_t p = b + s; p < P; p++) processor[p].idle_ns += ns;
  }
  struct qz_thread_stats *thread = make(threads + 1, sizeof *thread);
  for (uint32_t k = 0; k < threads; k++)
    thread[k] = (struct qz_thread_stats){.entity = firstThread + k, .serial = k + 1, .last_ns = elapsed};
  struct qz_object_stats *object = make(locks + 1, sizeof *object);
  for (uint32_t k = 0; k < locks; k++)
    object[k] = (struct qz_object_stats){.entity = firstLock + k, .instances = 1, .acquisitions = 10};
  struct qz_call_edge *call = make(4 * (size_t)procedures, sizeof *call);
  for (uint32_t k = 0; k < 4 * procedures; k++)
    call[k] = (struct qz_call_edge){
      .site = k + 1, .caller = 1 + below(procedures), .callee = 1 + below(procedures), .count = 1 + below(1000)};
  struct qz_timeline line = {.ns = elapsed};
  for (uint32_t p = 0; p < P; p++) {
    line.useful_ns += processor[p].useful_ns;
    line.spinning_ns += processor[p].spinning_ns;
    line.idle_ns += processor[p].idle_ns;
  }

  struct qz_profile_copy copy = {.head = {.magic = QZ_PROFILE_MAGIC,
                                          .version = QZ_PROFILE_VERSION,
                                          .head_bytes = sizeof copy.head,
                                          .status = QZ_PROFILE_COMPLETE,
                                          .end_reason = QZ_END_EXIT,
                                          .publisher = QZ_PUBLISHER_THREADLIB,
                                          .pid = 1,
                                          .processors = P,
                                          .cpus = P,
                                          .program = 1,
                                          .snapshots = rows,
                                          .rounds_begun = rows,
                                          .elapsed_ns = elapsed,
                                          .weight_us2 = elapsed / 1000 * 1000,
                                          .hook = {1000, 3000},
                                          .hook_inside_ps = 1000},
                                 .strings = strings,
                                 .strings_bytes = used,
                                 .entities = entity,
                                 .entities_count = entities + 1,
                                 .stacks = node,
                                 .stacks_count = stacks + 1,
                                 .tuples = tuple,
                                 .tuples_count = tuples,
                                 .balance = balance,
                                 .balance_count = rows,
                                 .objects = object,
                                 .objects_count = locks,
                                 .calls = call,
                                 .calls_count = 4 * (size_t)procedures,
                                 .threads = thread,
                                 .threads_count = threads,
                                 .timeline = &line,
                                 .timeline_count = 1,
                                 .processors = processor,
                                 .processors_count = P};
  if (qz_profile_store(&copy, argv[1])) {
    perror(argv[1]);
    return 1;
  }
  return 0;
}
