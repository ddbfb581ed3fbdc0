/* A binary of the program, for unwinding: its call frame information, and where its pieces of code begin and end.
 *
 * Owns:    the open file.
 * Writer and reader: the aggregating thread.
 * Addresses are those in the file, before relocation.
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
  uint64_t index_address;     /* its address in the file */
  uint32_t index_count;
  struct {
    uint64_t low, high;
  } stubs[STUBS_MOST]; /* code that the linker made for calls of libraries; it belongs to no procedure */
  uint32_t stubs_count;
};

/* Opens the file at that path, as the process sees it. If it can't be read, `elf` stays NULL, and there is no index and
 * no stub. */
void qzi_unwind_binary_open(struct qzi_unwind_binary *binary, uint32_t pid, const char *path);
/* fd -1: the binary was memory, not a file. */
void qzi_unwind_binary_close(struct qzi_unwind_binary *binary);
int qzi_unwind_binary_is_stub(const struct qzi_unwind_binary *binary, uint64_t address);
/* Start of the piece of code that contains the address; 0: none. */
uint64_t qzi_unwind_binary_entry(const struct qzi_unwind_binary *binary, uint64_t address);
/* Start of the first piece after the address; 0: there is none. */
uint64_t qzi_unwind_binary_next(const struct qzi_unwind_binary *binary, uint64_t address);
/* Finds the executable segment of the file that contains the address. Returns 0 if there is none. */
int qzi_unwind_binary_text(const struct qzi_unwind_binary *binary, uint64_t address, uint64_t *low, uint64_t *high);
/* End of the piece of code that begins at `entry`. Requires call frame information (`cfi`). */
uint64_t qzi_unwind_binary_end_of(const struct qzi_unwind_binary *binary, uint64_t entry);

#endif
