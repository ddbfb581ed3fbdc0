/* The mark that the thread package leaves in a program: an ELF note, which survives stripping.
 *
 * Owns:    the note's name and type.
 * Writer:  the thread package, by QZ_NOTE.
 * Reader:  the sampler (in a file) and the pthread layer (in its own process). If the note is present, the thread
 *          package publishes, and the layer must not.
 */
#ifndef QZ_ABI_NOTE_H
#define QZ_ABI_NOTE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define QZ_NOTE_TYPE 1
#define QZ_NOTE                                                                                                   \
  __asm__(                                                                                                        \
    ".pushsection .note.quartz, \"a\", @note\n\t.balign 4\n\t.long 7, 4, 1\n\t.asciz \"Quartz\"\n\t.balign 4\n\t" \
    ".long 1\n\t.popsection")

/* Returns 1 if the note is among the given notes of a segment; `bytes` is their length. */
static inline int qz_note_among(const char *notes, size_t bytes) {
  size_t at = 0;
  while (bytes - at >= 12) {
    uint32_t head[3];
    memcpy(head, notes + at, sizeof head);
    at += sizeof head;
    size_t name = ((size_t)head[0] + 3) & ~(size_t)3, content = ((size_t)head[1] + 3) & ~(size_t)3;
    if (name > bytes - at || content > bytes - at - name) return 0;
    if (head[0] == 7 && head[2] == QZ_NOTE_TYPE && !memcmp(notes + at, "Quartz", 7)) return 1;
    at += name + content;
  }
  return 0;
}

#endif
