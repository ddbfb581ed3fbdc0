/* warm BYTES: touches that much memory, and ends. The host of a virtual machine may take back what was freed there, and
 * the next touch of each such page then costs several times as much: a program that runs just afterwards does not pay
 * for that. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 2) return fprintf(stderr, "usage: warm BYTES\n"), 2;
  size_t bytes = (size_t)strtoull(arguments[1], NULL, 10), page = (size_t)sysconf(_SC_PAGESIZE);
  if (!bytes) return 0;
  volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return perror("warm"), 1;
  for (size_t at = 0; at < bytes; at += page) memory[at] = 1;
  return 0;
}
