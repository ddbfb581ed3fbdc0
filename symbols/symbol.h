/* What is known of an address: name, file and line, or why these are missing. All strings are NUL-terminated UTF-8 or
 * raw bytes of the binary, never NULL; symbols.h says how long they live. */
#ifndef QUARTZ_SYMBOL_H
#define QUARTZ_SYMBOL_H

#include <stdint.h>
#include "abi/origin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qz_symbols qz_symbols; /* who knows (symbols.h) */

/* What the address is. */
enum qz_symbol_use {
  QZ_SYMBOL_PROCEDURE = 0, /* entry of a procedure: its name, and where it is defined */
  QZ_SYMBOL_SITE = 1,      /* return address of a call: the procedure that contains the call, and the call's line
                            * (in code inlined from quartz.hpp, sync.hpp or the C++ library: the line that calls it) */
  QZ_SYMBOL_DATA = 2,      /* a static object: the variable, with member ("cache.lock", "table[3].lock") where the debug
                            * information has it, else "name+offset" where the address is not its start */
  QZ_SYMBOL_CODE = 3,      /* any instruction: the procedure that contains it, and its own line */
  QZ_SYMBOL_NAME =
    4 /* as PROCEDURE, but debug information in a separate file is not read for it: the name alone, then */
};

enum qz_symbol_status {
  QZ_SYMBOL_FOUND = 0,    /* name known */
  QZ_SYMBOL_NAMELESS = 1, /* module known, name not: `name` is "module+0x1a2b", `detail` says why */
  QZ_SYMBOL_UNKNOWN = 2   /* in no module: `name` is "0x1a2b", `detail` says so */
};

struct qz_symbol {
  const char *name;        /* demangled, without parameters and return type */
  const char *full_name;   /* demangled, with parameters; the same as `name` for C */
  const char *linkage;     /* as in the symbol table; "" if no symbol */
  const char *file;        /* absolute where the compiler recorded that; "" if unknown */
  uint32_t line;           /* 0 if unknown */
  const char *module;      /* path of the binary; "" if in none */
  uint64_t entry;          /* run-time address at which the procedure or variable starts; 0 if unknown */
  uint64_t offset;         /* address - entry */
  const char *detail;      /* why name, file or line is missing; "" if none is. One clause, no full stop */
  enum qz_missing missing; /* which */
};

/* Whose a procedure is, by its name. */
enum qz_symbol_origin {
  QZ_SYMBOL_OWN = 0,      /* the program's, or unknown */
  QZ_SYMBOL_STANDARD = 1, /* of C++'s or Rust's own library */
  QZ_SYMBOL_MADE_FOR = 2  /* likewise, made for a closure of the program, which may be inlined into it */
};

#ifdef __cplusplus
}
#endif
#endif
