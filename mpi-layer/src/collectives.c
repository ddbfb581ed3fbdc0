/* Collectives, and those that complete later. See mpi_layer.h. */
#include "mpi_layer.h"

#define OPEN(...) __VA_ARGS__

/* `root` counts for kinds that have one. */
#define COLLECTIVE(name, later, kind, root, parameters, arguments)                  \
  QZM_API int MPI_##name(OPEN parameters) {                                         \
    QZM_REAL(MPI_##name, OPEN parameters);                                          \
    if (!qzm_enter(at.site)) return real(OPEN arguments);                           \
    uint64_t begin_ns = qzm_now();                                                  \
    int result = real(OPEN arguments);                                              \
    if (!result) qzm_collective(kind, communicator, root, begin_ns, qzm_now(), at); \
    qzm_leave();                                                                    \
    return result;                                                                  \
  }                                                                                 \
  QZM_API int MPI_I##later(OPEN parameters, void *request) {                        \
    QZM_REAL(MPI_I##later, OPEN parameters, void *);                                \
    if (!qzm_enter(at.site)) return real(OPEN arguments, request);                  \
    int result = real(OPEN arguments, request);                                     \
    if (!result) qzm_begun(kind, communicator, root, 0, request, false, at);        \
    qzm_leave();                                                                    \
    return result;                                                                  \
  }

COLLECTIVE(Barrier, barrier, QZ_MPI_ALL, 0, (qzm_handle communicator), (communicator))
COLLECTIVE(Bcast, bcast, QZ_MPI_FROM_ROOT, root,
           (void *buffer, int count, qzm_handle type, int root, qzm_handle communicator),
           (buffer, count, type, root, communicator))
COLLECTIVE(Gather, gather, QZ_MPI_TO_ROOT, root,
           (const void *sent, int sent_count, qzm_handle sent_type, void *received, int count, qzm_handle type,
            int root, qzm_handle communicator),
           (sent, sent_count, sent_type, received, count, type, root, communicator))
COLLECTIVE(Gatherv, gatherv, QZ_MPI_TO_ROOT, root,
           (const void *sent, int sent_count, qzm_handle sent_type, void *received, const int *counts,
            const int *places, qzm_handle type, int root, qzm_handle communicator),
           (sent, sent_count, sent_type, received, counts, places, type, root, communicator))
COLLECTIVE(Scatter, scatter, QZ_MPI_FROM_ROOT, root,
           (const void *sent, int sent_count, qzm_handle sent_type, void *received, int count, qzm_handle type,
            int root, qzm_handle communicator),
           (sent, sent_count, sent_type, received, count, type, root, communicator))
COLLECTIVE(Scatterv, scatterv, QZ_MPI_FROM_ROOT, root,
           (const void *sent, const int *counts, const int *places, qzm_handle sent_type, void *received, int count,
            qzm_handle type, int root, qzm_handle communicator),
           (sent, counts, places, sent_type, received, count, type, root, communicator))
COLLECTIVE(Allgather, allgather, QZ_MPI_ALL, 0,
           (const void *sent, int sent_count, qzm_handle sent_type, void *received, int count, qzm_handle type,
            qzm_handle communicator),
           (sent, sent_count, sent_type, received, count, type, communicator))
COLLECTIVE(Allgatherv, allgatherv, QZ_MPI_ALL, 0,
           (const void *sent, int sent_count, qzm_handle sent_type, void *received, const int *counts,
            const int *places, qzm_handle type, qzm_handle communicator),
           (sent, sent_count, sent_type, received, counts, places, type, communicator))
COLLECTIVE(Alltoall, alltoall, QZ_MPI_ALL, 0,
           (const void *sent, int sent_count, qzm_handle sent_type, void *received, int count, qzm_handle type,
            qzm_handle communicator),
           (sent, sent_count, sent_type, received, count, type, communicator))
COLLECTIVE(Alltoallv, alltoallv, QZ_MPI_ALL, 0,
           (const void *sent, const int *sent_counts, const int *sent_places, qzm_handle sent_type, void *received,
            const int *counts, const int *places, qzm_handle type, qzm_handle communicator),
           (sent, sent_counts, sent_places, sent_type, received, counts, places, type, communicator))
COLLECTIVE(Alltoallw, alltoallw, QZ_MPI_ALL, 0,
           (const void *sent, const int *sent_counts, const int *sent_places, const void *sent_types, void *received,
            const int *counts, const int *places, const void *types, qzm_handle communicator),
           (sent, sent_counts, sent_places, sent_types, received, counts, places, types, communicator))
COLLECTIVE(Reduce, reduce, QZ_MPI_TO_ROOT, root,
           (const void *sent, void *received, int count, qzm_handle type, qzm_handle operation, int root,
            qzm_handle communicator),
           (sent, received, count, type, operation, root, communicator))
COLLECTIVE(Allreduce, allreduce, QZ_MPI_ALL, 0,
           (const void *sent, void *received, int count, qzm_handle type, qzm_handle operation,
            qzm_handle communicator),
           (sent, received, count, type, operation, communicator))
COLLECTIVE(Reduce_scatter, reduce_scatter, QZ_MPI_ALL, 0,
           (const void *sent, void *received, const int *counts, qzm_handle type, qzm_handle operation,
            qzm_handle communicator),
           (sent, received, counts, type, operation, communicator))
COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, QZ_MPI_ALL, 0,
           (const void *sent, void *received, int count, qzm_handle type, qzm_handle operation,
            qzm_handle communicator),
           (sent, received, count, type, operation, communicator))
COLLECTIVE(Scan, scan, QZ_MPI_PREFIX, 0,
           (const void *sent, void *received, int count, qzm_handle type, qzm_handle operation,
            qzm_handle communicator),
           (sent, received, count, type, operation, communicator))
COLLECTIVE(Exscan, exscan, QZ_MPI_PREFIX, 0,
           (const void *sent, void *received, int count, qzm_handle type, qzm_handle operation,
            qzm_handle communicator),
           (sent, received, count, type, operation, communicator))
