/* Calls that send and receive. See mpi_layer.h. */
#include "mpi_layer.h"

/* A status to read, where the program wants none. */
#define STATUS(given)         \
  char own[QZM_STATUS_BYTES]; \
  void *status = qzm_is_ignored(given) ? (void *)own : (given)

#define SENDS(name)                                                                                              \
  QZM_API int name(const void *buffer, int count, qzm_handle type, int peer, int tag, qzm_handle communicator) { \
    QZM_REAL(name, const void *, int, qzm_handle, int, int, qzm_handle);                                         \
    if (!qzm_enter(at.site)) return real(buffer, count, type, peer, tag, communicator);                          \
    uint64_t begin_ns = qzm_now();                                                                               \
    int result = real(buffer, count, type, peer, tag, communicator);                                             \
    if (!result) qzm_message(QZ_MPI_SENT, communicator, peer, tag, NULL, begin_ns, begin_ns, qzm_now(), at);     \
    qzm_leave();                                                                                                 \
    return result;                                                                                               \
  }
SENDS(MPI_Send)
SENDS(MPI_Ssend)
SENDS(MPI_Bsend)
SENDS(MPI_Rsend)

QZM_API int MPI_Recv(void *buffer, int count, qzm_handle type, int peer, int tag, qzm_handle communicator,
                     void *given) {
  QZM_REAL(MPI_Recv, void *, int, qzm_handle, int, int, qzm_handle, void *);
  if (!qzm_enter(at.site)) return real(buffer, count, type, peer, tag, communicator, given);
  STATUS(given);
  uint64_t begin_ns = qzm_now();
  int result = real(buffer, count, type, peer, tag, communicator, status);
  if (!result) qzm_message(QZ_MPI_RECEIVED, communicator, peer, tag, status, begin_ns, begin_ns, qzm_now(), at);
  qzm_leave();
  return result;
}

/* What waits here is the receiving: the message that is sent can proceed. */
QZM_API int MPI_Sendrecv(const void *sent, int sent_count, qzm_handle sent_type, int to, int to_tag, void *received,
                         int count, qzm_handle type, int from, int tag, qzm_handle communicator, void *given) {
  QZM_REAL(MPI_Sendrecv, const void *, int, qzm_handle, int, int, void *, int, qzm_handle, int, int, qzm_handle,
           void *);
  if (!qzm_enter(at.site))
    return real(sent, sent_count, sent_type, to, to_tag, received, count, type, from, tag, communicator, given);
  STATUS(given);
  uint64_t begin_ns = qzm_now();
  int result = real(sent, sent_count, sent_type, to, to_tag, received, count, type, from, tag, communicator, status);
  if (!result) {
    qzm_message(QZ_MPI_SENT, communicator, to, to_tag, NULL, begin_ns, begin_ns, begin_ns, at);
    qzm_message(QZ_MPI_RECEIVED, communicator, from, tag, status, begin_ns, begin_ns, qzm_now(), at);
  }
  qzm_leave();
  return result;
}

QZM_API int MPI_Sendrecv_replace(void *buffer, int count, qzm_handle type, int to, int to_tag, int from, int tag,
                                 qzm_handle communicator, void *given) {
  QZM_REAL(MPI_Sendrecv_replace, void *, int, qzm_handle, int, int, int, int, qzm_handle, void *);
  if (!qzm_enter(at.site)) return real(buffer, count, type, to, to_tag, from, tag, communicator, given);
  STATUS(given);
  uint64_t begin_ns = qzm_now();
  int result = real(buffer, count, type, to, to_tag, from, tag, communicator, status);
  if (!result) {
    qzm_message(QZ_MPI_SENT, communicator, to, to_tag, NULL, begin_ns, begin_ns, begin_ns, at);
    qzm_message(QZ_MPI_RECEIVED, communicator, from, tag, status, begin_ns, begin_ns, qzm_now(), at);
  }
  qzm_leave();
  return result;
}

#define BEGINS(name, kind, buffer_type, persistent)                                                            \
  QZM_API int name(buffer_type buffer, int count, qzm_handle type, int peer, int tag, qzm_handle communicator, \
                   void *request) {                                                                            \
    QZM_REAL(name, buffer_type, int, qzm_handle, int, int, qzm_handle, void *);                                \
    if (!qzm_enter(at.site)) return real(buffer, count, type, peer, tag, communicator, request);               \
    int result = real(buffer, count, type, peer, tag, communicator, request);                                  \
    if (!result) qzm_begun(kind, communicator, peer, tag, request, persistent, at);                            \
    qzm_leave();                                                                                               \
    return result;                                                                                             \
  }
BEGINS(MPI_Isend, QZ_MPI_SENT, const void *, false)
BEGINS(MPI_Issend, QZ_MPI_SENT, const void *, false)
BEGINS(MPI_Ibsend, QZ_MPI_SENT, const void *, false)
BEGINS(MPI_Irsend, QZ_MPI_SENT, const void *, false)
BEGINS(MPI_Irecv, QZ_MPI_RECEIVED, void *, false)
BEGINS(MPI_Send_init, QZ_MPI_SENT, const void *, true)
BEGINS(MPI_Ssend_init, QZ_MPI_SENT, const void *, true)
BEGINS(MPI_Bsend_init, QZ_MPI_SENT, const void *, true)
BEGINS(MPI_Rsend_init, QZ_MPI_SENT, const void *, true)
BEGINS(MPI_Recv_init, QZ_MPI_RECEIVED, void *, true)

QZM_API int MPI_Start(void *request) {
  QZM_REAL(MPI_Start, void *);
  if (!qzm_enter(at.site)) return real(request);
  qzm_started(request);
  int result = real(request);
  qzm_leave();
  return result;
}

QZM_API int MPI_Startall(int count, void *requests) {
  QZM_REAL(MPI_Startall, int, void *);
  if (!qzm_enter(at.site)) return real(count, requests);
  for (int k = 0; k < count; k++) qzm_started((char *)requests + (size_t)k * qzm_mpi.handle_bytes);
  int result = real(count, requests);
  qzm_leave();
  return result;
}

QZM_API int MPI_Request_free(void *request) {
  QZM_REAL(MPI_Request_free, void *);
  if (!qzm_enter(at.site)) return real(request);
  qzm_dropped(qzm_read(request));
  int result = real(request);
  qzm_leave();
  return result;
}
