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

/* With what makes it match. false: it can't. */
static bool message_event(struct qz_mpi_event *event, qzm_handle communicator, int peer, int tag) {
  bool plain;
  if (!qzm_communicator(communicator, &event->communicator, &plain) || !plain) return false;
  event->peer = qzm_world_rank(communicator, peer);
  event->tag = tag;
  if (event->peer < 0) return false;
  event->number = qzm_number(event->communicator, event->peer, tag, event->kind);
  return true;
}

static bool collective_event(struct qz_mpi_event *event, qzm_handle communicator, int root) {
  bool plain;
  if (!qzm_communicator(communicator, &event->communicator, &plain) || !plain) return false;
  int rooted = event->kind == QZ_MPI_FROM_ROOT || event->kind == QZ_MPI_TO_ROOT;
  event->peer = rooted ? qzm_world_rank(communicator, root) : QZM_UNKNOWN;
  event->number = qzm_number(event->communicator, QZM_UNKNOWN, 0, QZ_MPI_ALL);
  return true;
}

void qzm_message(uint32_t kind, qzm_handle communicator, int peer, int tag, const void *status, uint64_t posted_ns,
                 uint64_t begin_ns, uint64_t end_ns, struct qzm_place at) {
  struct qz_mpi_event event = {
    .posted_ns = posted_ns, .begin_ns = begin_ns, .ns = qzm_between(begin_ns, end_ns), .kind = (uint16_t)kind};
  if (!settle(&peer, &tag, status)) return;
  qzm_lock();
  event.site = qzm_log_site(at);
  if (message_event(&event, communicator, peer, tag)) qzm_log_add(&event);
  qzm_unlock();
}

void qzm_collective(uint32_t kind, qzm_handle communicator, int root, uint64_t begin_ns, uint64_t end_ns,
                    struct qzm_place at) {
  struct qz_mpi_event event = {
    .posted_ns = begin_ns, .begin_ns = begin_ns, .ns = qzm_between(begin_ns, end_ns), .kind = (uint16_t)kind};
  qzm_lock();
  event.site = qzm_log_site(at);
  if (collective_event(&event, communicator, root)) qzm_log_add(&event);
  qzm_unlock();
}

static bool is_message(uint32_t kind) { return kind == QZ_MPI_SENT || kind == QZ_MPI_RECEIVED; }

/* Writes its event, if that is known already: which message a receive from anyone gets is not. */
static void post(struct qzm_pending *its, struct qzm_place at) {
  its->active = true;
  its->event = 0;
  if (its->peer == qzm_mpi.nowhere && is_message(its->kind)) return;
  if (its->kind == QZ_MPI_RECEIVED && (its->peer == qzm_mpi.any_source || its->tag == QZM_ANY_TAG)) return;
  struct qz_mpi_event event = {
    .posted_ns = its->posted_ns, .begin_ns = its->posted_ns, .site = qzm_log_site(at), .kind = (uint16_t)its->kind};
  if (!(is_message(its->kind) ? message_event(&event, its->communicator, its->peer, its->tag)
                              : collective_event(&event, its->communicator, its->peer)))
    return;
  its->event = qzm_log_add(&event);
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
