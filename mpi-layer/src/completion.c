/* Calls that wait for requests, or ask for their end. See mpi_layer.h. */
#include "mpi_layer.h"

#include <string.h>

/* Requests of one call whose end is looked for; of more, the others are given up by what follows. */
#define MANY 512

static bool left_open(const struct qzm_pending *pending) { return pending->kind == QZ_MPI_RECEIVED && !pending->event; }

/* Wait: end_ns is when it returns. Test: it took no time that counts. */
static int one(int (*real)(void *, void *), void *request, void *given, struct qzm_place at) {
  struct qzm_pending pending = qzm_pending_of(qzm_read(request));
  char own[QZM_STATUS_BYTES];
  void *status = qzm_is_ignored(given) && left_open(&pending) ? own : given;
  uint64_t begin_ns = qzm_now();
  int result = real(request, status);
  if (!result) qzm_completed(&pending, qzm_is_ignored(status) ? NULL : status, begin_ns, qzm_now(), at);
  return result;
}

QZM_API int MPI_Wait(void *request, void *status) {
  QZM_REAL(MPI_Wait, void *, void *);
  if (!qzm_enter(at.site)) return real(request, status);
  int result = one(real, request, status, at);
  qzm_leave();
  return result;
}

QZM_API int MPI_Test(void *request, int *flag, void *given) {
  QZM_REAL(MPI_Test, void *, int *, void *);
  if (!qzm_enter(at.site)) return real(request, flag, given);
  struct qzm_pending pending = qzm_pending_of(qzm_read(request));
  char own[QZM_STATUS_BYTES];
  void *status = qzm_is_ignored(given) && left_open(&pending) ? own : given;
  int result = real(request, flag, status);
  if (!result && *flag) {
    uint64_t now_ns = qzm_now();
    qzm_completed(&pending, qzm_is_ignored(status) ? NULL : status, now_ns, now_ns, at);
  }
  qzm_leave();
  return result;
}

/* Of several requests: what is known of each before the call, and statuses, of which the program may want none. */
struct several {
  int count;
  struct qzm_pending *pending;
  char *statuses;
};

static struct several before(int count, const void *requests, struct qzm_pending *room) {
  struct several its = {.count = count < MANY ? count : MANY, .pending = room};
  for (int k = 0; k < its.count; k++) room[k] = qzm_pending_of(qzm_element(requests, k));
  return its;
}

static void done(const struct several *its, int index, const void *statuses, int nth, uint64_t begin_ns,
                 uint64_t end_ns, struct qzm_place at) {
  if (index < 0 || index >= its->count) return;
  const void *status = qzm_is_ignored(statuses) ? NULL : (const char *)statuses + (size_t)nth * qzm_mpi.status_bytes;
  qzm_completed(&its->pending[index], status, begin_ns, end_ns, at);
}

/* Statuses in place of those that the program does not want, where one of them says who sent. */
static bool wanted(const struct several *its, const void *given) {
  if (!qzm_is_ignored(given)) return false;
  for (int k = 0; k < its->count; k++)
    if (left_open(&its->pending[k])) return true;
  return false;
}

#define SEVERAL(count, requests, given)                                                      \
  struct qzm_pending room[(count) > 0 && (count) < MANY ? (count) : (count) > 0 ? MANY : 1]; \
  struct several its = before(count, requests, room);                                        \
  bool own = wanted(&its, given) && (count) <= MANY;                                         \
  char room_of_statuses[own ? (size_t)(count)*QZM_STATUS_BYTES : 1];                         \
  void *statuses = own ? (void *)room_of_statuses : (given)

QZM_API int MPI_Waitall(int count, void *requests, void *given) {
  QZM_REAL(MPI_Waitall, int, void *, void *);
  if (!qzm_enter(at.site)) return real(count, requests, given);
  SEVERAL(count, requests, given);
  uint64_t begin_ns = qzm_now();
  int result = real(count, requests, statuses);
  uint64_t end_ns = qzm_now();
  for (int k = 0; !result && k < its.count; k++) done(&its, k, statuses, k, begin_ns, end_ns, at);
  qzm_leave();
  return result;
}

QZM_API int MPI_Testall(int count, void *requests, int *flag, void *given) {
  QZM_REAL(MPI_Testall, int, void *, int *, void *);
  if (!qzm_enter(at.site)) return real(count, requests, flag, given);
  SEVERAL(count, requests, given);
  int result = real(count, requests, flag, statuses);
  uint64_t now_ns = qzm_now();
  for (int k = 0; !result && *flag && k < its.count; k++) done(&its, k, statuses, k, now_ns, now_ns, at);
  qzm_leave();
  return result;
}

QZM_API int MPI_Waitany(int count, void *requests, int *index, void *given) {
  QZM_REAL(MPI_Waitany, int, void *, int *, void *);
  if (!qzm_enter(at.site)) return real(count, requests, index, given);
  SEVERAL(count, requests, given);
  uint64_t begin_ns = qzm_now();
  int result = real(count, requests, index, statuses);
  if (!result) done(&its, *index, statuses, 0, begin_ns, qzm_now(), at);
  qzm_leave();
  return result;
}

QZM_API int MPI_Testany(int count, void *requests, int *index, int *flag, void *given) {
  QZM_REAL(MPI_Testany, int, void *, int *, int *, void *);
  if (!qzm_enter(at.site)) return real(count, requests, index, flag, given);
  SEVERAL(count, requests, given);
  int result = real(count, requests, index, flag, statuses);
  uint64_t now_ns = qzm_now();
  if (!result && *flag) done(&its, *index, statuses, 0, now_ns, now_ns, at);
  qzm_leave();
  return result;
}

QZM_API int MPI_Waitsome(int count, void *requests, int *completed, int *indices, void *given) {
  QZM_REAL(MPI_Waitsome, int, void *, int *, int *, void *);
  if (!qzm_enter(at.site)) return real(count, requests, completed, indices, given);
  SEVERAL(count, requests, given);
  uint64_t begin_ns = qzm_now();
  int result = real(count, requests, completed, indices, statuses);
  uint64_t end_ns = qzm_now();
  for (int k = 0; !result && k < *completed; k++) done(&its, indices[k], statuses, k, begin_ns, end_ns, at);
  qzm_leave();
  return result;
}

QZM_API int MPI_Testsome(int count, void *requests, int *completed, int *indices, void *given) {
  QZM_REAL(MPI_Testsome, int, void *, int *, int *, void *);
  if (!qzm_enter(at.site)) return real(count, requests, completed, indices, given);
  SEVERAL(count, requests, given);
  int result = real(count, requests, completed, indices, statuses);
  uint64_t now_ns = qzm_now();
  for (int k = 0; !result && k < *completed; k++) done(&its, indices[k], statuses, k, now_ns, now_ns, at);
  qzm_leave();
  return result;
}
