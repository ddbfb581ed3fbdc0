/* Reads the program's memory. See process_memory.h. */
#include "process_memory.h"

#include <sys/uio.h>

int qzi_program_read(uint32_t pid, uint64_t address, void *to, size_t bytes) {
  struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
  return process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) == (ssize_t)bytes ? 0 : -1;
}
