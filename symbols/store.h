/* What a qz_symbols holds: the modules that were mapped, their binaries, and answers that were given.
 *
 * Owns:    the modules and binaries (written by modules.c), the answers (by answers.c). One thread at a time.
 * Must not: be included from outside symbols/.
 */
#ifndef QUARTZ_SYMBOLS_STORE_H
#define QUARTZ_SYMBOLS_STORE_H

#include "internal.h"

struct module {
  uint64_t start, end, bias;
  struct qzi_binary *binary;
};
struct answer {
  uint64_t address;
  unsigned use; /* enum qz_symbol_use; behind that, of an inlined procedure, the binary's number */
  enum qz_symbol_status status;
  struct qz_symbol symbol;
  struct answer *next;
};

struct qz_symbols {
  struct qzi_arena arena;
  struct module *modules;
  size_t module_count, module_capacity;
  size_t within; /* 1 + module that addresses are of, though a later one lies there; 0: none */
  struct qzi_binary **binaries;
  size_t binary_count, binary_capacity;
  char **debug_dirs;
  size_t debug_dir_count;
  struct answer **buckets;
  size_t bucket_count, answer_count;
};

/* modules.c: the module that has the address, the latest where several do; NULL: none. */
const struct module *qzi_module_of(const qz_symbols *symbols, uint64_t address);

/* answers.c: what was found for that address and use before; NULL: nothing yet. */
struct answer *qzi_answer_known(const qz_symbols *symbols, uint64_t address, unsigned use);
/* Keeps it for the next time; without memory it is looked up again. */
void qzi_answer_keep(qz_symbols *symbols, uint64_t address, unsigned use, enum qz_symbol_status status,
                     const struct qz_symbol *symbol);

/* describe.c: how an answer is put together. Texts are copied. */
extern const struct qz_symbol qzi_no_symbol;
void qzi_set_place(qz_symbols *symbols, struct qz_symbol *symbol, const struct qzi_place *place);
/* part: text behind a variable's name; NULL: none. */
void qzi_set_name(qz_symbols *symbols, struct qz_symbol *symbol, const char *linkage, const char *part);
/* "file+0x1a2b"; path "": the address alone. */
void qzi_set_offset_name(qz_symbols *symbols, struct qz_symbol *symbol, const char *path, uint64_t offset);
/* Why something is missing: what the binary lacks as a whole, else what it lacks here. */
void qzi_set_missing(struct qz_symbol *symbol, enum qz_missing missing, const char *whole, const char *here);

#endif
