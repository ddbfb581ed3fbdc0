/* Call stacks of the recorded program, found from outside.
 *
 * Owns:    what is known about the program's code (recipes.h).
 * Writer and reader: the aggregating thread.
 * Must not: stop or change the program; trust a guess: a frame found without unwind information counts only if its
 * return address follows a call that may have reached the procedure; otherwise the walk ends.
 *
 * The caller of a procedure is found by the DWARF call frame information that compilers write into every binary
 * (.eh_frame) for exceptions, which needs neither frame pointers nor debug information; if there is none, by what the
 * procedure's machine code does with the stack; else by the frame pointer. Each step is checked, and counted in the
 * profile (struct qz_unwinding) as valid, likely or invalid, as in Tallent, Mellor-Crummey, Fagan, PLDI 2009, 2.3.2.
 */
#ifndef QZI_UNWINDER_H
#define QZI_UNWINDER_H

#include "sampler/linux/thread_sample.h"
#include "sampler/profile/interner.h"

#define QZI_FRAMES_MOST 128u

/* One activation of a procedure. Arrays of them begin with the innermost one. */
struct qzi_frame {
  uint64_t pc;      /* current instruction; for callers: the return address */
  uint64_t entry;   /* of the procedure; qzi_key_is_generated: code in no file; 0: in no known module */
  uint32_t module;  /* index + 1 into QZ_SECTION_MODULES, 0: none */
  uint8_t framed;   /* 1: its frame is at the frame pointer */
  uint8_t standard; /* 1: the code is from C++'s or Rust's own library, whichever module it was compiled into */
};

struct qzi_unwinder;

/* Returns NULL if there is no memory, or if the sampler was built without libdw. */
struct qzi_unwinder *qzi_unwinder_open(struct qzi_interner *in);
void qzi_unwinder_close(struct qzi_unwinder *unwinder);
/* Opens the binaries known so far, before sampling begins, except the system's small libraries, which can be opened
 * quickly later. */
void qzi_unwinder_prepare(struct qzi_unwinder *unwinder);

/* Writes at most `most` frames from `from` outwards; returns their number. *complete: 1 if the outermost one was
 * reached. */
uint32_t qzi_unwind(struct qzi_unwinder *unwinder, const struct qzi_registers *from, const struct qzi_stack_copy *copy,
                    struct qzi_frame *frames, uint32_t most, int *complete);
/* Why the last walk ended before the outermost frame; QZ_CUT_NOT: it did not. */
enum qz_cut qzi_unwind_cut(const struct qzi_unwinder *unwinder);
/* 1: the last walk began in a copy of the stack, and read memory outside it. */
int qzi_unwind_beyond(const struct qzi_unwinder *unwinder);
/* Entry of the procedure that contains the instruction at pc (inside: a return address minus 1); 0: unknown. */
uint64_t qzi_unwind_entry(struct qzi_unwinder *unwinder, uint64_t pc);
/* Whether that procedure is of C++'s or Rust's own library, whichever module it was compiled into. */
int qzi_unwind_standard(struct qzi_unwinder *unwinder, uint64_t pc);
/* Name of that procedure in the symbol table; "": none. */
const char *qzi_unwind_symbol(struct qzi_unwinder *unwinder, uint64_t pc);
/* Whether the instruction is in code that the kernel maps into every process (vDSO). */
int qzi_unwind_vdso(struct qzi_unwinder *unwinder, uint64_t pc);

#endif
