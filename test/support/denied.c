/* Runs a program to which the kernel refuses system calls (EPERM), as some containers do:
 * denied CALL[,CALL...] COMMAND ARGUMENT... with calls of the table below.
 * Needs nothing but a C compiler: scripts/bare.sh builds it by itself, statically linked. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char *name;
  unsigned number;
} calls[] = {
  {"perf_event_open", SYS_perf_event_open},     {"ptrace", SYS_ptrace},   {"process_vm_readv", SYS_process_vm_readv},
  {"process_vm_writev", SYS_process_vm_writev}, {"unshare", SYS_unshare},
};
enum { CALLS = sizeof calls / sizeof *calls };

static int fail(const char *what, int status) {
  perror(what);
  return status;
}

int main(int argc, char **argv) {
  struct sock_filter rules[2 * CALLS + 2] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  unsigned short length = 1;
  if (argc < 3) {
    fprintf(stderr, "usage: denied CALL[,CALL...] COMMAND ARGUMENT...\n");
    return 125;
  }
  for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ",")) {
    unsigned k = 0;
    while (k < CALLS && strcmp(calls[k].name, name)) k++;
    if (k == CALLS || length >= 2 * CALLS) {
      fprintf(stderr, "denied: cannot deny \"%s\"; choose of:", name);
      for (k = 0; k < CALLS; k++) fprintf(stderr, " %s", calls[k].name);
      fprintf(stderr, "\n");
      return 125;
    }
    rules[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[k].number, 0, 1);
    rules[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  rules[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {length, rules};
  /* Root may filter without giving up set-user-ID programs. */
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) &&
      (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)))
    return fail("denied", 125);
  execvp(argv[2], argv + 2);
  return fail(argv[2], 127);
}
