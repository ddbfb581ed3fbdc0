/* Large tables of which most may never be used: memory that begins as zeros, and takes none before it is written. */
#ifndef QZI_LAZY_MEMORY_H
#define QZI_LAZY_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

/* Returns NULL if there is no memory. */
static inline void *qzi_lazy_memory(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}
static inline void qzi_lazy_free(void *memory, size_t bytes) {
  if (memory) munmap(memory, bytes);
}

#endif
