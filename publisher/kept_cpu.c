/* Whether the kernel has taken the CPU away. See kept_cpu.h. */
#include "kept_cpu.h"
#include <unistd.h>

#if QZI_HAS_KEPT
#define RSEQ_CS 8 /* offset of rseq_cs in struct rseq */
ptrdiff_t qzi_kept_at;

/* The critical section, its abort address after the signature that the kernel requires there, and its descriptor. */
__asm__(".pushsection .text\n"
        "0: ud2\n1:\n .byte 0x0f, 0xb9, 0x3d\n .long 0x53053053\n2: ud2\n"
        ".popsection\n"
        ".pushsection .data.rel.ro, \"aw\"\n .balign 32\n .hidden qzi_kept_section\n .globl qzi_kept_section\n"
        "qzi_kept_section: .long 0, 0\n .quad 0b, 1b - 0b, 2b\n"
        ".popsection\n");

/* Tests whether the kernel clears the word: a sleeping thread loses its CPU, unless its time elapses before it
 * sleeps. */
bool qzi_kept_works(void) {
  if (!&__rseq_offset || !&__rseq_size || !__rseq_size) return false;
  ptrdiff_t at = __rseq_offset + RSEQ_CS;
  uint64_t *word = qzi_kept_word_at(at);
  __atomic_store_n(word, (uint64_t)(uintptr_t)qzi_kept_section, __ATOMIC_RELAXED);
  for (unsigned us = 1; us <= 10000; us *= 10) {
    usleep(us);
    if (__atomic_load_n(word, __ATOMIC_RELAXED)) continue;
    qzi_kept_at = at; /* for good: other threads may ask from now on */
    return true;
  }
  return false;
}
#else
bool qzi_kept_works(void) { return false; }
#endif
