/* Calls that make and free communicators. See mpi_layer.h. */
#include "mpi_layer.h"

#define OPEN(...) __VA_ARGS__

#define MAKES(name, parameters, arguments)                      \
  QZM_API int name(OPEN parameters, void *made) {               \
    QZM_REAL(name, OPEN parameters, void *);                    \
    if (!qzm_enter(at.site)) return real(OPEN arguments, made); \
    int result = real(OPEN arguments, made);                    \
    if (!result) qzm_made(communicator, made, at.site);         \
    qzm_leave();                                                \
    return result;                                              \
  }
MAKES(MPI_Comm_dup, (qzm_handle communicator), (communicator))
MAKES(MPI_Comm_dup_with_info, (qzm_handle communicator, qzm_handle info), (communicator, info))
MAKES(MPI_Comm_split, (qzm_handle communicator, int colour, int key), (communicator, colour, key))
MAKES(MPI_Comm_split_type, (qzm_handle communicator, int type, int key, qzm_handle info),
      (communicator, type, key, info))
MAKES(MPI_Comm_create, (qzm_handle communicator, qzm_handle group), (communicator, group))
MAKES(MPI_Cart_create, (qzm_handle communicator, int dimensions, const int *sizes, const int *periods, int reorder),
      (communicator, dimensions, sizes, periods, reorder))
MAKES(MPI_Cart_sub, (qzm_handle communicator, const int *kept), (communicator, kept))
MAKES(MPI_Graph_create, (qzm_handle communicator, int nodes, const int *index, const int *edges, int reorder),
      (communicator, nodes, index, edges, reorder))
MAKES(MPI_Dist_graph_create,
      (qzm_handle communicator, int count, const int *sources, const int *degrees, const int *destinations,
       const int *weights, qzm_handle info, int reorder),
      (communicator, count, sources, degrees, destinations, weights, info, reorder))
MAKES(MPI_Dist_graph_create_adjacent,
      (qzm_handle communicator, int in, const int *sources, const int *in_weights, int out, const int *destinations,
       const int *out_weights, qzm_handle info, int reorder),
      (communicator, in, sources, in_weights, out, destinations, out_weights, info, reorder))

#define FREES(name)                                     \
  QZM_API int name(void *communicator) {                \
    QZM_REAL(name, void *);                             \
    if (!qzm_enter(at.site)) return real(communicator); \
    qzm_lock();                                         \
    qzm_freed(qzm_read(communicator));                  \
    qzm_unlock();                                       \
    int result = real(communicator);                    \
    qzm_leave();                                        \
    return result;                                      \
  }
FREES(MPI_Comm_free)
FREES(MPI_Comm_disconnect)
