/* C++ names. Owns nothing; the only use of the C++ run-time library in symbols/. */
#include <cxxabi.h>
#include <cstring>
#include "internal.h"

extern "C" char *qzi_demangle(const char *name) {
  // Only _Z...: without this test the demangler takes a C function named "i" for the type int.
  if (std::strncmp(name, "_Z", 2) != 0) return nullptr;
  int status = 0;
  return abi::__cxa_demangle(name, nullptr, nullptr, &status);
}
