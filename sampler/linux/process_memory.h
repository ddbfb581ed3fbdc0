/* Memory of the recorded program. */
#ifndef QZI_PROCESS_MEMORY_H
#define QZI_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Reads `bytes` bytes at `address` of the process `pid` (process_vm_readv). Returns 0, or -1 with errno: not mapped
 * (EFAULT), or not allowed (EPERM, ENOSYS). */
int qzi_program_read(uint32_t pid, uint64_t address, void *to, size_t bytes);

#endif
