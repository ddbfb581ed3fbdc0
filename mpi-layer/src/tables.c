/* Requests under way, and how many events of a kind there were. Open addressing in memory of their own, which is
 * touched as it is used. See mpi_layer.h. */
#include "mpi_layer.h"

#define REQUESTS (1u << 16)
#define CHANNELS (1u << 16)
#define FULL     7 / 8

static struct qzm_pending *requests;
static uint32_t requests_used, serials;

struct channel {
  uint64_t communicator;
  int peer, tag;
  uint32_t kind, next; /* kind 0: free */
};
static struct channel *channels;
static uint32_t channels_used;

static bool same(const struct channel *its, uint64_t communicator, int peer, int tag, uint32_t kind) {
  return its->kind == kind && its->communicator == communicator && its->peer == peer && its->tag == tag;
}

/* From place `at` on: the channel is not there, or another one is. */
__attribute__((noinline)) static uint32_t number_from(uint32_t at, uint64_t communicator, int peer, int tag,
                                                      uint32_t kind) {
  if (!channels && !(channels = qzm_memory(CHANNELS * sizeof *channels))) return UINT32_MAX;
  for (;; at = (at + 1) % CHANNELS) {
    struct channel *its = &channels[at];
    if (same(its, communicator, peer, tag, kind)) return its->next++;
    if (its->kind) continue;
    if (channels_used >= CHANNELS * FULL) return UINT32_MAX;
    channels_used++;
    *its = (struct channel){communicator, peer, tag, kind, 1};
    return 0;
  }
}

uint32_t qzm_number(uint64_t communicator, int peer, int tag, uint32_t kind) {
  uint64_t key = communicator ^ ((uint64_t)(uint32_t)peer << 32) ^ (uint32_t)tag;
  uint32_t at = (uint32_t)qzm_hash(key + kind) % CHANNELS;
  if (__builtin_expect(channels && same(&channels[at], communicator, peer, tag, kind), true))
    return channels[at].next++;
  return number_from(at, communicator, peer, tag, kind);
}

static uint32_t place_of(qzm_handle request) { return (uint32_t)qzm_hash(request) % REQUESTS; }

struct qzm_pending *qzm_request_find(qzm_handle request) {
  if (!requests) return NULL;
  for (uint32_t at = place_of(request); requests[at].kind; at = (at + 1) % REQUESTS)
    if (requests[at].request == request) return &requests[at];
  return NULL;
}

struct qzm_pending *qzm_request_add(qzm_handle request) {
  if (!requests && !(requests = qzm_memory(REQUESTS * sizeof *requests))) return NULL;
  struct qzm_pending *its = qzm_request_find(request);
  if (!its) {
    if (requests_used >= REQUESTS * FULL) return NULL;
    requests_used++;
    uint32_t at = place_of(request);
    while (requests[at].kind) at = (at + 1) % REQUESTS;
    its = &requests[at];
  }
  *its = (struct qzm_pending){.request = request, .serial = ++serials};
  return its;
}

/* What stands behind it in the same run of places moves up, so that it is found without it. */
void qzm_request_remove(struct qzm_pending *pending) {
  uint32_t hole = (uint32_t)(pending - requests);
  requests_used--;
  for (uint32_t at = (hole + 1) % REQUESTS; requests[at].kind; at = (at + 1) % REQUESTS) {
    uint32_t wanted = place_of(requests[at].request);
    if ((at - wanted) % REQUESTS < (at - hole) % REQUESTS) continue;
    requests[hole] = requests[at];
    hole = at;
  }
  requests[hole].kind = 0;
}
