/* A binary of the program as unwinding needs it: its call frame information, and where its pieces of code begin and
 * end.
 *
 * Owns:    the open file. Writer and reader: the aggregating thread.
 * Addresses are the file's own, as before it was loaded.
 */
#ifndef QZI_UNWIND_TABLES_H
#define QZI_UNWIND_TABLES_H

#include <elfutils/libdw.h>
#include <stdint.h>

#define STUBS_MOST 4u

struct qzi_unwind_binary {
  Elf *elf;
  Dwarf_CFI *cfi;
  int fd, tried;
  const unsigned char *index; /* table of .eh_frame_hdr: pairs of 4-byte offsets from its start */
  uint64_t index_address;     /* in the file's terms */
  uint32_t index_count;
  struct {
    uint64_t low, high;
  } stubs[STUBS_MOST]; /* code that the linker made to call libraries: no procedures */
  uint32_t stubs_count;
};

/* Reads the file at that path, as the process sees it. Where it can't be read, `elf` stays NULL, and there is no index
 * and no stub. */
void qzi_unwind_binary_open(struct qzi_unwind_binary *binary, uint32_t pid, const char *path);
/* fd -1: it was memory. */
void qzi_unwind_binary_close(struct qzi_unwind_binary *binary);
int qzi_unwind_binary_is_stub(const struct qzi_unwind_binary *binary, uint64_t address);
/* Start of the piece of code that contains the address; 0: none. */
uint64_t qzi_unwind_binary_entry(const struct qzi_unwind_binary *binary, uint64_t address);
/* Start of the first piece behind the address; 0: there is none. */
uint64_t qzi_unwind_binary_next(const struct qzi_unwind_binary *binary, uint64_t address);
/* The part of the file that is mapped as code and has the address. 0: none does. */
int qzi_unwind_binary_text(const struct qzi_unwind_binary *binary, uint64_t address, uint64_t *low, uint64_t *high);
/* Where the piece of code that begins at `entry` ends. With call frame information. */
uint64_t qzi_unwind_binary_end_of(const struct qzi_unwind_binary *binary, uint64_t entry);

#endif
