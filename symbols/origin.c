/* Whose a procedure is, by its name in the symbol table. Owns nothing; pure functions of strings. */
#include <string.h>
#include "internal.h"

/* Does the mangled name have a lambda of the program among its template arguments (Itanium C++ ABI, 5.1.8)? */
static bool has_own_lambda(const char *linkage) {
  for (const char *at = strchr(linkage + 2, 'Z'); at; at = strchr(at + 1, 'Z')) {
    if (!strchr("IJE", at[-1])) continue;
    const char *scope = at[1] == 'N' ? at + 2 + (at[2] == 'K') : at + 1;
    if (*scope != 'S' && *scope != 'Z' && (strstr(at, "EUl") || strstr(at, "$_"))) return true; /* gcc's, clang's */
  }
  return false;
}

bool qzi_runs_functor(const char *linkage) {
  static const char state[] = "_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJ";
  const char *type = strncmp(linkage, state, sizeof state - 1) ? "" : linkage + sizeof state - 1;
  if (type[0] == 'Z') return has_own_lambda(linkage);
  return (type[0] == 'N' ? type[1] : type[0]) >= '1' && (type[0] == 'N' ? type[1] : type[0]) <= '9';
}

enum qz_symbol_origin qzi_origin(const char *linkage) {
  static const char *const cxx[] = {"_ZSt", "_ZNSt", "_ZNKSt", "_ZZSt", "_ZZNSt", "_ZZNKSt", "_ZN9__gnu_cxx"};
  for (size_t k = 0; k < sizeof cxx / sizeof *cxx; k++)
    if (!strncmp(linkage, cxx[k], strlen(cxx[k])))
      return has_own_lambda(linkage) || qzi_runs_functor(linkage) ? QZ_SYMBOL_MADE_FOR : QZ_SYMBOL_STANDARD;
  if (!qzi_rust_standard(linkage)) return QZ_SYMBOL_OWN;
  return qzi_rust_made_for(linkage) || strstr(linkage, "__rust_begin_short_backtrace") ? QZ_SYMBOL_MADE_FOR
                                                                                       : QZ_SYMBOL_STANDARD;
}
