/* Lists of names. See mpi_call.h. */
#include "mpi_call.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "file_path.h"

#define NAME_MOST 64u

/* In lower case, without the prefix MPI_ and without the suffixes of Fortran names. */
static const char *const collective[] = {"barrier",
                                         "bcast",
                                         "gather",
                                         "gatherv",
                                         "scatter",
                                         "scatterv",
                                         "allgather",
                                         "allgatherv",
                                         "alltoall",
                                         "alltoallv",
                                         "alltoallw",
                                         "reduce",
                                         "allreduce",
                                         "reduce_scatter",
                                         "scan",
                                         "exscan",
                                         "comm_split",
                                         "reduce_scatter_block",
                                         "comm_dup",
                                         "comm_create",
                                         "comm_free",
                                         "cart_create",
                                         "dist_graph_create",

                                         "win_create",
                                         "win_allocate",
                                         "win_fence",
                                         "win_free",
                                         "file_open",
                                         "file_close",
                                         "file_read_all",
                                         "file_write_all",
                                         "file_read_at_all",
                                         "file_write_at_all",
                                         "comm_split_type",
                                         "comm_spawn",
                                         "comm_accept",
                                         "comm_connect",
                                         "win_allocate_shared",
                                         "file_set_view",
                                         "intercomm_create",
                                         "intercomm_merge"};
static const char *const start[] = {"init", "init_thread", "session_init", "session_finalize", "finalize"};
static const char *const message[] = {"send",      "ssend",         "rsend",      "bsend",
                                      "recv",      "mrecv",         "sendrecv",   "sendrecv_replace",
                                      "probe",     "mprobe",        "wait",       "waitall",
                                      "waitany",   "waitsome",      "win_wait",   "win_complete",
                                      "win_lock",  "win_lock_all",  "win_unlock", "win_unlock_all",
                                      "win_flush", "win_flush_all", "win_start",  "buffer_detach"};

static bool is_among(const char *name, const char *const *list, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (!strcmp(name, list[k])) return true;
  return false;
}
#define AMONG(name, list) is_among(name, list, sizeof(list) / sizeof *(list))

static void without(char *name, const char *suffix) {
  size_t length = strlen(name), its = strlen(suffix);
  if (length > its && !strcmp(name + length - its, suffix)) name[length - its] = 0;
}

/* Removes the prefix P of the profiling interface; Open MPI's Fortran procedures are also named ompi_..._f. */
static const char *plain(const char *name) {
  size_t length = strlen(name);
  int fortran = !strncmp(name, "ompi_", 5) && length > 7 && !strcmp(name + length - 2, "_f");
  return name + (*name == 'P' || *name == 'p' || fortran);
}

enum qz_mpi_call qz_mpi_call_of(const char *name) {
  name = plain(name);
  if (strncasecmp(name, "mpi_", 4) != 0 || strlen(name) >= NAME_MOST) return QZ_MPI_NONE;
  char lower[NAME_MOST];
  size_t length = 0;
  for (name += 4; *name; name++) {
    if (!isalnum((unsigned char)*name) && *name != '_')
      return QZ_MPI_NONE; /* a C++ name, or a clone made by a compiler */
    lower[length++] = (char)tolower((unsigned char)*name);
  }
  while (length && lower[length - 1] == '_') length--;
  lower[length] = 0;
  without(lower, "_f08ts");
  without(lower, "_f08");
  without(lower, "_f");
  without(lower, "_c"); /* of MPI 4, with large counts */
  if (!strncmp(lower, "neighbor_", 9)) return QZ_MPI_COLLECTIVE;
  if (AMONG(lower, collective)) return QZ_MPI_COLLECTIVE;
  if (AMONG(lower, start)) return QZ_MPI_START;
  return AMONG(lower, message) ? QZ_MPI_MESSAGE : QZ_MPI_OTHER;
}

/* Fortran names are all lower case or all upper case. */
static bool has_one_case(const char *name) {
  bool upper = false, lower = false;
  for (; *name; name++) {
    upper |= isupper((unsigned char)*name) != 0;
    lower |= islower((unsigned char)*name) != 0;
  }
  return !(upper && lower);
}

bool qz_mpi_name(const char *name, char *text, size_t room) {
  if (qz_mpi_call_of(name) == QZ_MPI_NONE) return false;
  name = plain(name);
  char its[NAME_MOST];
  strcpy(its, name); /* it fits: longer names have no call */
  for (size_t length = strlen(its); its[length - 1] == '_'; length--) its[length - 1] = 0;
  without(its, "_f08ts");
  without(its, "_f08");
  without(its, "_f");
  if (strlen(its) >= room) return false;
  strcpy(text, its);
  if (!has_one_case(text + 4) && !strncmp(text, "MPI_", 4)) return true;
  memcpy(text, "MPI", 3);
  text[4] = (char)toupper((unsigned char)text[4]);
  for (char *rest = text + 5; *rest; rest++) *rest = (char)tolower((unsigned char)*rest);
  return true;
}

bool qz_mpi_is_library(const char *path) {
  static const char *const libraries[] = {"libmpi",   "libquartz-mpi", "libopen-pal",  "libopen-rte", "libpmix",
                                          "libprrte", "libmca_",       "mca_",         "libpmi",      "libucs",
                                          "libucp",   "libuct",        "libucm",       "libfabric",   "libpsm",
                                          "libhcoll", "libsharp",      "libinfinipath"};
  const char *file = qz_file_of_path(path);
  for (size_t k = 0; k < sizeof libraries / sizeof *libraries; k++)
    if (!strncmp(file, libraries[k], strlen(libraries[k]))) return true;
  return false;
}
