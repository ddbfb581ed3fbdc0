/* Writes the profiles of a job's ranks, for measuring what reads many: rank_profiles DIRECTORY RANKS.
 *
 * Each is as large as that of a small program under Open MPI: one processor, three threads, 100 procedures on 80 call
 * paths, 250 mutexes, one collective. Rank r works for 1 s, with a fixed variation of up to 1 %, in 60 procedures; of
 * every thousand ranks the one with the remainder 7 works twice as long in the first of them. All others wait for the
 * longest one. What that adds up to is printed: ranks, elapsed time of each, work of all, outliers; ns.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/profile_write.h>

enum { PROCEDURES = 100, LOCKS = 250, THREADS = 3, STACKS = 80, WORKING = 60 };
enum { FIRST_LOCK = PROCEDURES + 1, CALL = FIRST_LOCK + LOCKS, FIRST_THREAD, ENTITIES = FIRST_THREAD + THREADS };
#define WORK_NS UINT64_C(1000000000)

static int is_outlier(uint32_t rank) { return rank % 1000 == 7; }
/* Of the k-th working procedure. */
static uint64_t work_of(uint32_t rank, uint32_t k) {
  uint64_t ns = WORK_NS / WORKING + (rank * UINT64_C(2654435761) >> 16) % (WORK_NS / WORKING / 100);
  return k == 0 && is_outlier(rank) ? ns + WORK_NS : ns;
}
static uint64_t work_of_all(uint32_t rank) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < WORKING; k++) sum += work_of(rank, k);
  return sum;
}

static char strings[1 << 16];
static uint32_t used = 1;
static uint32_t add(const char *text) {
  uint32_t at = used;
  used += 1 + (uint32_t)snprintf(strings + used, sizeof strings - used, "%s", text);
  return at;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "use: %s DIRECTORY RANKS\n", argv[0]);
    return 2;
  }
  uint32_t ranks = (uint32_t)strtoul(argv[2], NULL, 10);
  static struct qz_entity entity[ENTITIES];
  static struct qz_stack_node node[STACKS + 2];
  char text[64];
  uint32_t program = add("/opt/solver/bin/solver"), file = add("/opt/solver/src/solver.c");
  uint32_t module_path = program, version = add("0.1.0");
  struct qz_module module = {.start = 0x1000, .end = 0x100000, .path = module_path};
  for (uint32_t e = 1; e < ENTITIES; e++) {
    entity[e] = (struct qz_entity){.address = 0x1000 + 16 * e, .module = 1, .line = e, .file = file, .instances = 1};
    if (e < FIRST_LOCK)
      snprintf(text, sizeof text, "procedure_%u", e), entity[e].kind = QZ_ENTITY_PROCEDURE;
    else if (e < CALL)
      snprintf(text, sizeof text, "lock_%u", e), entity[e].kind = QZ_KIND_MUTEX;
    else if (e == CALL) {
      snprintf(text, sizeof text, "MPI_Allreduce at solver.c:40");
      entity[e].kind = QZ_KIND_FUTEX;
      entity[e].library_wait = QZ_LIBRARY_WAIT_COLLECTIVE;
      entity[e].naming = QZ_NAMING_PLACE;
    } else
      snprintf(text, sizeof text, "thread_%u", e - FIRST_THREAD), entity[e].kind = QZ_ENTITY_THREAD;
    entity[e].name = add(text);
  }
  /* main calls the working procedures, and these others; the last one is the wait */
  for (uint32_t n = 1; n <= STACKS; n++)
    node[n] = (struct qz_stack_node){.parent = n == 1 ? 0 : n <= WORKING + 1 ? 1 : n - WORKING, .entity = n};
  node[STACKS + 1] = (struct qz_stack_node){.parent = 1, .entity = CALL};

  uint64_t longest = 0, all = 0;
  uint32_t outliers = 0;
  for (uint32_t r = 0; r < ranks; r++) {
    uint64_t own = work_of_all(r);
    longest = own > longest ? own : longest;
    all += own;
    outliers += (uint32_t)is_outlier(r);
  }
  uint32_t before_hosts = used;
  for (uint32_t r = 0; r < ranks; r++) {
    static struct qz_tuple tuple[WORKING + 3];
    static struct qz_object_stats object[LOCKS + 1];
    struct qz_balance balance[2] = {{0}};
    struct qz_thread_stats thread[THREADS] = {{0}};
    struct qz_call_edge call[PROCEDURES];
    uint64_t own = work_of_all(r), waits = longest - own;
    uint32_t tuples = 0;
    used = before_hosts; /* each has its own */
    snprintf(text, sizeof text, "node%04u, Linux 6.1 x86_64", r / 64);
    uint32_t host = add(text);
    for (uint32_t k = 0; k < WORKING; k++) {
      uint64_t ns = work_of(r, k);
      tuple[tuples++] = (struct qz_tuple){.stack = 2 + k,
                                          .thread = FIRST_THREAD,
                                          .state = QZ_STATE_USEFUL,
                                          .busy = 1,
                                          .runnable = 1,
                                          .count = ns / 1000000,
                                          .ns = ns,
                                          .runnable_ns = ns};
    }
    if (waits)
      tuple[tuples++] = (struct qz_tuple){.stack = STACKS + 1,
                                          .thread = FIRST_THREAD,
                                          .state = QZ_STATE_BLOCKED,
                                          .waiting = QZ_WAITING_OBJECT,
                                          .count = waits / 1000000 + 1,
                                          .ns = waits};
    for (uint32_t t = 1; t < THREADS; t++)
      tuple[tuples++] = (struct qz_tuple){
        .thread = FIRST_THREAD + t, .state = QZ_STATE_BLOCKED, .count = longest / 1000000, .ns = longest};
    for (uint32_t t = 0; t < THREADS; t++)
      thread[t] = (struct qz_thread_stats){.entity = FIRST_THREAD + t, .serial = t + 1, .last_ns = longest};
    balance[0] = (struct qz_balance){.busy = 1, .runnable = 1, .count = 1000, .ns = own, .runnable_ns = own};
    balance[1] = (struct qz_balance){.count = 1000, .ns = waits};
    for (uint32_t k = 0; k <= LOCKS; k++)
      object[k] = (struct qz_object_stats){.entity = FIRST_LOCK + k, .instances = 1, .acquisitions = 10};
    object[LOCKS] = (struct qz_object_stats){.entity = CALL, .instances = 1, .wait_ns = waits};
    for (uint32_t k = 0; k < PROCEDURES; k++)
      call[k] = (struct qz_call_edge){.site = k + 1, .caller = 1, .callee = FIRST_LOCK + k, .count = 10};
    struct qz_timeline line = {.ns = longest, .useful_ns = own, .idle_ns = waits};
    struct qz_processor_stats processor = {.useful_ns = own, .idle_ns = waits};
    struct qz_profile_copy copy = {.head = {.magic = QZ_PROFILE_MAGIC,
                                            .version = QZ_PROFILE_VERSION,
                                            .head_bytes = sizeof copy.head,
                                            .status = QZ_PROFILE_COMPLETE,
                                            .end_reason = QZ_END_EXIT,
                                            .publisher = QZ_PUBLISHER_PTHREAD,
                                            .pid = 1000 + r,
                                            .processors = 1,
                                            .cpus = 1,
                                            .program = program,
                                            .arguments = program,
                                            .host = host,
                                            .version_text = version,
                                            .snapshots = 2000,
                                            .rounds_begun = 2000,
                                            .elapsed_ns = longest,
                                            .weight_us2 = longest / 1000},
                                   .strings = strings,
                                   .strings_bytes = used,
                                   .entities = entity,
                                   .entities_count = ENTITIES,
                                   .stacks = node,
                                   .stacks_count = STACKS + 2,
                                   .tuples = tuple,
                                   .tuples_count = tuples,
                                   .balance = balance,
                                   .balance_count = 2,
                                   .objects = object,
                                   .objects_count = LOCKS + 1,
                                   .calls = call,
                                   .calls_count = PROCEDURES,
                                   .threads = thread,
                                   .threads_count = THREADS,
                                   .modules = &module,
                                   .modules_count = 1,
                                   .timeline = &line,
                                   .timeline_count = 1,
                                   .processors = &processor,
                                   .processors_count = 1};
    char path[4096];
    snprintf(path, sizeof path, "%s/solver.%u.quartz", argv[1], r);
    if (qz_profile_store(&copy, path)) {
      perror(path);
      return 1;
    }
  }
  printf("%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", ranks, longest, all, outliers);
  return 0;
}
