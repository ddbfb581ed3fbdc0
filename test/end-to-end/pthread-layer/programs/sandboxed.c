/* Runs a program under a filter for one system call, as sandboxes do: sandboxed NUMBER kill|trap|refuse COMMAND
 * ARGUMENT... */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv) {
  const char *what = argc > 2 ? argv[2] : "";
  unsigned answer = !strcmp(what, "kill")   ? SECCOMP_RET_KILL_PROCESS
                    : !strcmp(what, "trap") ? SECCOMP_RET_TRAP
                                            : SECCOMP_RET_ERRNO | EPERM;
  struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 1 ? (unsigned)atoi(argv[1]) : 0, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, answer),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  if (argc < 4 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("sandboxed");
    return 125;
  }
  execvp(argv[3], argv + 3);
  perror(argv[3]);
  return 127;
}
