/* See permission.h. */
#include "permission.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi/program.h"
#include "sampler/linux/process_memory.h"

/* Fields of /proc/PID/status. */
struct status {
  long group;      /* the process to which the thread belongs */
  unsigned levels; /* number of its IDs: one per pid name space, from ours to its own */
  char state;
  int has_memory;
  unsigned long long capabilities; /* effective ones */
};

static int read_status(const char *pid, struct status *its) {
  char name[64], line[512];
  snprintf(name, sizeof name, "/proc/%s/status", pid);
  FILE *file = fopen(name, "re");
  if (!file) return -1;
  *its = (struct status){0};
  while (fgets(line, sizeof line, file)) {
    char *value = strchr(line, ':');
    if (!value) continue;
    *value++ = 0;
    if (!strcmp(line, "Tgid")) its->group = strtol(value, NULL, 10);
    if (!strcmp(line, "State")) its->state = value[strspn(value, " \t")];
    if (!strcmp(line, "VmSize")) its->has_memory = 1;
    if (!strcmp(line, "CapEff")) its->capabilities = strtoull(value, NULL, 16);
    if (!strcmp(line, "NSpid"))
      for (char *rest = value, *word; (word = strtok_r(rest, " \t\n", &rest));) its->levels++;
  }
  fclose(file);
  return its->group ? 0 : -1;
}

/* Why the kernel does not let us look into a process, and what to do: root, too, may lack the right. */
static const char *unseen(void) {
  struct status ours;
  if (geteuid())
    return "the kernel lets only root look into it (it has, or had, more rights than you); run quartz as root";
  if (!read_status("self", &ours) && !(ours.capabilities >> CAP_SYS_PTRACE & 1))
    return "root lacks the capability SYS_PTRACE here, so the kernel does not let it look into it; start the container "
           "with --cap-add SYS_PTRACE, or run quartz outside of it";
  return "the kernel does not let even root look into it (it has more rights, or a security policy protects it); "
         "record a program that you start: quartz run";
}

const char *qzi_outside_refusal(pid_t pid, char *text, size_t bytes) {
  char number[24], name[64];
  struct status its, ours;
  struct stat exe, own;
  snprintf(number, sizeof number, "%ld", (long)pid);
  if (read_status(number, &its) || read_status("self", &ours))
    return geteuid() ? "/proc does not show it (is it mounted with hidepid?); run quartz as root"
                     : "/proc does not show it; is /proc mounted here, and of this pid namespace?";
  if (its.group != pid) {
    snprintf(text, bytes, "it is one thread of process %ld; name that one", its.group);
    return text;
  }
  if (its.state == 'Z' || its.state == 'X') return "it has ended, and its parent has not reaped it yet";
  if (!its.has_memory) return "it is a kernel thread, which runs no program";
  if (its.levels != ours.levels) {
    snprintf(
      text, bytes,
      "it runs in a container (another pid namespace), where its threads have other ids; run quartz there, for example "
      "with nsenter -t %ld -m -p",
      (long)pid);
    return text;
  }
  snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
  if (stat(name, &exe)) return errno == EACCES || errno == EPERM ? unseen() : "the file that it runs cannot be found";
  if (!stat("/proc/self/exe", &own) && own.st_ino == exe.st_ino && own.st_dev == exe.st_dev)
    return "it is Quartz's own sampler; name the program that is to be recorded";
  if (qz_program_at(name) == QZ_PROGRAM_FOREIGN)
    return "it is a 32-bit program, or one for another machine; build it for this one";
  return NULL;
}

int qzi_outside_publishes(pid_t pid) {
  char name[64], *line = NULL;
  size_t room = 0;
  int found = 0;
  snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
  if (qz_program_at(name) == QZ_PROGRAM_PACKAGE) return 1;
  snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
  FILE *maps = fopen(name, "re");
  while (maps && !found && getline(&line, &room, maps) > 0) found = strstr(line, "/libquartz-pthread.so") != NULL;
  free(line);
  if (maps) fclose(maps);
  return found;
}

int qzi_outside_readable(pid_t pid) {
  char byte;
  return !qzi_program_read((uint32_t)pid, 1, &byte, 1) || (errno != EPERM && errno != EACCES && errno != ENOSYS);
}
