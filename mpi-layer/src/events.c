/* What calls have done, as events. See mpi_layer.h. */
#include "mpi_layer.h"

#include <string.h>

static int status_word(const void *status, size_t at) {
  int value;
  memcpy(&value, (const char *)status + at, sizeof value);
  return value;
}

/* Who sent the message, and with which tag, where the program left that open; false: nobody did. */
static bool settle(int *peer, int *tag, const void *status) {
  if (*peer == qzm_mpi.any_source) *peer = status ? status_word(status, qzm_mpi.source_at) : QZM_UNKNOWN;
  if (*tag == QZM_ANY_TAG) *tag = status ? status_word(status, qzm_mpi.tag_at) : QZM_UNKNOWN;
  return *peer != qzm_mpi.nowhere && *peer >= 0 && *tag >= 0;
}

/* An event of the log, with what makes it match. Index + 1; 0: there is none. */
static inline __attribute__((always_inline)) uint32_t put(uint32_t kind, uint64_t communicator, int peer, int tag,
                                                          uint32_t channel, uint64_t posted_ns, uint64_t begin_ns,
                                                          uint64_t ns, struct qzm_place at) {
  uint32_t number = qzm_number(communicator, channel == QZ_MPI_ALL ? QZM_UNKNOWN : peer, tag, channel);
  uint16_t site = qzm_log_site(at);
  struct qz_mpi_event *its = qzm_log_room(number);
  if (!its) return 0;
  *its = (struct qz_mpi_event){.posted_ns = posted_ns,
                               .begin_ns = begin_ns,
                               .ns = ns,
                               .communicator = communicator,
                               .number = number,
                               .peer = peer,
                               .tag = tag,
                               .kind = (uint16_t)kind,
                               .site = site};
  return qzm_log_add();
}

static inline __attribute__((always_inline)) uint32_t write_message(uint32_t kind, qzm_handle communicator, int peer,
                                                                    int tag, uint64_t posted_ns, uint64_t begin_ns,
                                                                    uint64_t ns, struct qzm_place at) {
  uint64_t id;
  int rank;
  if (!qzm_communicator(communicator, peer, &id, &rank) || rank < 0) return 0;
  return put(kind, id, rank, tag, kind, posted_ns, begin_ns, ns, at);
}

static uint32_t write_collective(uint32_t kind, qzm_handle communicator, int root, uint64_t begin_ns, uint64_t ns,
                                 struct qzm_place at) {
  bool rooted = kind == QZ_MPI_FROM_ROOT || kind == QZ_MPI_TO_ROOT;
  uint64_t id;
  int rank;
  if (!qzm_communicator(communicator, rooted ? root : QZM_UNKNOWN, &id, &rank)) return 0;
  return put(kind, id, rank, 0, QZ_MPI_ALL, begin_ns, begin_ns, ns, at);
}

void qzm_message(uint32_t kind, qzm_handle communicator, int peer, int tag, const void *status, uint64_t posted_ns,
                 uint64_t begin_ns, uint64_t end_ns, struct qzm_place at) {
  if (!settle(&peer, &tag, status)) return;
  qzm_lock();
  write_message(kind, communicator, peer, tag, posted_ns, begin_ns, qzm_between(begin_ns, end_ns), at);
  qzm_unlock();
}

void qzm_collective(uint32_t kind, qzm_handle communicator, int root, uint64_t begin_ns, uint64_t end_ns,
                    struct qzm_place at) {
  qzm_lock();
  write_collective(kind, communicator, root, begin_ns, qzm_between(begin_ns, end_ns), at);
  qzm_unlock();
}

static bool is_message(uint32_t kind) { return kind == QZ_MPI_SENT || kind == QZ_MPI_RECEIVED; }

/* Writes its event, if that is known already: which message a receive from anyone gets is not. */
static void post(struct qzm_pending *its, struct qzm_place at) {
  its->active = true;
  its->event = 0;
  if (its->peer == qzm_mpi.nowhere && is_message(its->kind)) return;
  if (its->kind == QZ_MPI_RECEIVED && (its->peer == qzm_mpi.any_source || its->tag == QZM_ANY_TAG)) return;
  if (is_message(its->kind))
    its->event =
      write_message(its->kind, its->communicator, its->peer, its->tag, its->posted_ns, its->posted_ns, 0, at);
  else
    its->event = write_collective(its->kind, its->communicator, its->peer, its->posted_ns, 0, at);
  its->epoch = qzm_log_epoch();
}

void qzm_begun(uint32_t kind, qzm_handle communicator, int peer, int tag, const void *request, bool persistent,
               struct qzm_place at) {
  uint64_t now_ns = persistent ? 0 : qzm_now();
  qzm_lock();
  struct qzm_pending *its = qzm_request_add(qzm_read(request));
  if (its) {
    its->kind = kind;
    its->communicator = communicator;
    its->peer = peer;
    its->tag = tag;
    its->posted_ns = now_ns;
    its->persistent = persistent;
    if (!persistent) post(its, at);
  } else {
    qzm_log_lost();
  }
  qzm_unlock();
}

void qzm_started(const void *request) {
  uint64_t now_ns = qzm_now();
  qzm_lock();
  struct qzm_pending *its = qzm_request_find(qzm_read(request));
  if (its) {
    its->posted_ns = now_ns;
    post(its, (struct qzm_place){0});
  }
  qzm_unlock();
}

struct qzm_pending qzm_pending_of(qzm_handle request) {
  struct qzm_pending copy = {0};
  qzm_lock();
  const struct qzm_pending *its = qzm_request_find(request);
  if (its && its->active) copy = *its;
  qzm_unlock();
  return copy;
}

void qzm_completed(const struct qzm_pending *pending, const void *status, uint64_t begin_ns, uint64_t end_ns,
                   struct qzm_place at) {
  if (!pending->kind) return;
  qzm_lock();
  struct qz_mpi_event *event = qzm_log_at(pending->event, pending->epoch);
  struct qzm_pending *its = qzm_request_find(pending->request);
  if (its && its->serial == pending->serial) {
    its->active = false;
    if (!its->persistent) qzm_request_remove(its);
  }
  if (event) {
    event->begin_ns = begin_ns > event->posted_ns ? begin_ns : event->posted_ns;
    event->ns = qzm_between(event->begin_ns, end_ns);
    event->site = qzm_log_site(at);
  }
  qzm_unlock();
  if (!pending->event && pending->kind == QZ_MPI_RECEIVED)
    qzm_message(QZ_MPI_RECEIVED, pending->communicator, pending->peer, pending->tag, status, pending->posted_ns,
                begin_ns, end_ns, at);
}

void qzm_dropped(qzm_handle request) {
  qzm_lock();
  struct qzm_pending *its = qzm_request_find(request);
  if (its) qzm_request_remove(its);
  qzm_unlock();
}
