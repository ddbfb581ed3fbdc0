/* Head and sections of a profile as the file has them: where they are, whether they fit, and whether a finished file's
 * bytes are those that were written. What the sections say is not looked at (profile_references.h).
 *
 * Owns:    nothing. Used by profile_read.c.
 * Must not: trust a number of the file before it has been compared with the file's size.
 */
#ifndef QZ_ABI_PROFILE_SECTIONS_H
#define QZ_ABI_PROFILE_SECTIONS_H

#include <stddef.h>
#include <stdint.h>
#include "profile.h"
#include "profile_fault.h"

/* Where the bytes come from: a file, or memory when fd is -1. */
struct qzi_profile_source {
  enum qz_profile_fault fault; /* once a function below has returned -1 */
  int fd;
  const unsigned char *memory;
  uint64_t size;
  char *why; /* what is wrong, once a function below has returned -1 */
  size_t why_bytes;
};

/* Says what is wrong; -1, with errno 0. qzi_profile_damaged: the fault is QZ_FAULT_DAMAGED. */
int qzi_profile_wrong(struct qzi_profile_source *source, enum qz_profile_fault fault, const char *format, ...)
  __attribute__((format(printf, 3, 4)));
#define qzi_profile_damaged(source, ...) qzi_profile_wrong(source, QZ_FAULT_DAMAGED, __VA_ARGS__)

/* Copies bytes of the file. 0 or -1. */
int qzi_profile_fetch(struct qzi_profile_source *source, void *to, uint64_t offset, uint64_t bytes);
/* A file that is not finished is longer each time it is looked at. 0 or -1. */
int qzi_profile_look_at_size(struct qzi_profile_source *source);

/* What the elements of each section are in this version. */
struct qzi_profile_kind {
  size_t size;
  const char *name;
};
extern const struct qzi_profile_kind qzi_profile_kinds[QZ_SECTION_COUNT];
/* Whether this program reads profiles of that version. */
int qzi_profile_is_read(uint32_t version);
/* Sections that a profile of that version has: the first so many. And the bytes of its head. */
unsigned qzi_profile_sections(uint32_t version);
size_t qzi_profile_head_size(uint32_t version);
/* An element of an older version may lack the last fields, which are then 0. */
int qzi_profile_stride_fits(uint32_t version, unsigned section, uint64_t stride);

/* The head, checked, of whichever version that is read. 0 or -1. */
int qzi_profile_fetch_head(struct qzi_profile_source *source, struct qz_profile *head);
int qzi_profile_fetch_end(struct qzi_profile_source *source, struct qz_profile_end *end);
/* The end mark of a finished profile, and with it that nothing was cut off and that the head is what was written. */
int qzi_profile_check_end(struct qzi_profile_source *source, const struct qz_profile *head);
/* Elements for which the extents have room; UINT64_MAX: they make no sense. */
uint64_t qzi_profile_room(const struct qzi_profile_source *source, const struct qz_section *section,
                          uint32_t head_bytes);
/* Copies so many bytes of a section out of its extents; a finished file's checksum is compared. 0 or -1. */
int qzi_profile_fetch_section(struct qzi_profile_source *source, const struct qz_profile *head, unsigned s, void *to,
                              uint64_t bytes);

#endif
