/* Numbers of messages; requests in progress, compared with a plain list; and a log that received three times its
 * capacity. */
#include "test/support/check.h"
#include "mpi-layer/src/mpi_layer.h"

#include <sys/mman.h>
#include <unistd.h>

static struct qz_mpi_log *passed;
__attribute__((visibility("default"))) int quartz_pass_messages(int fd);
int quartz_pass_messages(int fd) {
  size_t bytes = sizeof *passed + QZ_MPI_LOG_CAPACITY * sizeof passed->events[0];
  passed = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  return passed == MAP_FAILED ? -1 : 0;
}

void *qzm_memory(size_t bytes) { return calloc(1, bytes); }

static uint64_t random_state = 12345;
static uint32_t draw(uint32_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % below;
}

static void numbers(void) {
  CHECK_IS(qzm_number(1, 2, 3, QZ_MPI_SENT), 0);
  CHECK_IS(qzm_number(1, 2, 3, QZ_MPI_RECEIVED), 0);
  CHECK_IS(qzm_number(1, 2, 4, QZ_MPI_SENT), 0);
  CHECK_IS(qzm_number(5, 2, 3, QZ_MPI_SENT), 0);
  CHECK_IS(qzm_number(1, 2, 3, QZ_MPI_SENT), 1);
  uint32_t refused = 0;
  for (int k = 0; k < 100000; k++) refused += qzm_number(7, k, 0, QZ_MPI_SENT) == UINT32_MAX;
  CHECK(refused > 0 && refused < 60000); /* a full table says so, and keeps working with its contents */
  CHECK_IS(qzm_number(1, 2, 3, QZ_MPI_SENT), 2);
}

#define HANDLES 3000
static void requests(void) {
  static uint32_t serial[HANDLES]; /* 0: not in progress */
  for (int step = 0; step < 400000; step++) {
    uint32_t which = draw(HANDLES);
    qzm_handle handle = 0x98000000u + 64u * which; /* as MPICH's are */
    struct qzm_pending *its = qzm_request_find(handle);
    CHECK((its != NULL) == (serial[which] != 0));
    if (its) CHECK_IS(its->serial, serial[which]);
    if (its && draw(2)) {
      qzm_request_remove(its);
      serial[which] = 0;
    } else {
      its = qzm_request_add(handle);
      CHECK(its != NULL);
      its->kind = QZ_MPI_SENT;
      serial[which] = its->serial;
    }
  }
}

static uint32_t add(struct qz_mpi_event event) {
  struct qz_mpi_event *room = qzm_log_room(event.number);
  if (!room) return 0;
  *room = event;
  return qzm_log_add();
}

static void log_is_thinned(void) {
  CHECK(qzm_log_open(3, 8));
  CHECK_IS(passed->magic, QZ_MPI_LOG_MAGIC);
  uint16_t site = qzm_log_site((struct qzm_place){0x1234, 0x5678});
  CHECK(site && site == qzm_log_site((struct qzm_place){0x1234, 0x5678}));
  CHECK(site != qzm_log_site((struct qzm_place){0x1238, 0x5678}));
  CHECK_IS(passed->sites[site].address, 0x1234);
  uint32_t first = 0, epoch = 0, all = 3 * QZ_MPI_LOG_CAPACITY;
  for (uint32_t k = 0; k < all; k++) {
    uint32_t at = add((struct qz_mpi_event){.number = k, .kind = QZ_MPI_SENT, .site = site});
    if (!k) {
      first = at;
      epoch = qzm_log_epoch();
      CHECK(qzm_log_at(first, epoch) != NULL);
    }
  }
  CHECK(qzm_log_at(first, epoch) == NULL); /* it has moved */
  CHECK_IS(passed->thinning, 2);
  CHECK_IS(passed->lost, 0);
  CHECK_IS(passed->count, all / 4);
  for (uint32_t k = 0; k < passed->count; k++) CHECK_IS(passed->events[k].number, 4 * k);
  CHECK_IS(add((struct qz_mpi_event){.number = UINT32_MAX}), 0);
  CHECK_IS(passed->lost, 1);
}

int main(void) {
  numbers();
  requests();
  log_is_thinned();
  return 0;
}
