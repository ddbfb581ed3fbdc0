/* See launcher.h. */
#include "launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES_MOST 100000

int qz_launcher_processes_here(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *value = getenv(names[k]);
    long processes = value ? strtol(value, NULL, 10) : 0;
    if (processes > 0 && processes <= PROCESSES_MOST) return (int)processes;
  }
  return 1;
}

const struct qz_launcher qz_launchers[QZ_LAUNCHERS] = {
  {"PMI_RANK", "PMI_SIZE"},
  {"PMIX_RANK", "OMPI_COMM_WORLD_SIZE"},
  {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
  {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

const char *qz_launcher_value(const char *entry, const char *name) {
  size_t length = strlen(name);
  return !strncmp(entry, name, length) && entry[length] == '=' ? entry + length + 1 : NULL;
}

static int has_rank(char *const *environment) {
  int has = 0;
  for (char *const *entry = environment; entry && *entry; entry++) {
    const char *wanted = qz_launcher_value(*entry, "QUARTZ_MPI");
    if (wanted && !strcmp(wanted, "0")) return 0;
    for (unsigned k = 0; k < QZ_LAUNCHERS; k++) has |= qz_launcher_value(*entry, qz_launchers[k].rank) != NULL;
  }
  return has;
}

void qz_launcher_layers(const char *layer, char *const *environment, char *entries, size_t bytes) {
  const char *slash = strrchr(layer, '/');
  size_t folder = slash ? (size_t)(slash - layer) : 0, length = strlen(layer);
  snprintf(entries, bytes, "%s", layer);
  if (!slash || !has_rank(environment) || length + folder + sizeof QZ_MPI_LAYER + 1 > bytes) return;
  char *mpi = entries + length + 1;
  snprintf(mpi, bytes - length - 1, "%.*s" QZ_MPI_LAYER, (int)folder, layer);
  if (access(mpi, R_OK)) { /* in a build tree it is in a folder beside the layer's */
    while (folder && layer[folder - 1] != '/') folder--;
    snprintf(mpi, bytes - length - 1, "%.*smpi-layer" QZ_MPI_LAYER, (int)folder, layer);
  }
  if (!access(mpi, R_OK)) entries[length] = ':';
}
