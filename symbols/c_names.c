/* Public names of the C library's inner procedures: people know snprintf, not __vsnprintf_internal. Owns nothing; reads
 * the binary's symbol table. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define EACH(list, k)      for (size_t k = 0; k < sizeof(list) / sizeof *(list); k++)
#define BEGINS(text, with) (!strncmp(text, with, strlen(with)))
#define NAME_MOST          120u

/* Inner procedures of which the name does not say for which public one they work. */
static const struct {
  const char *inner, *public;
} known[] = {
  {"_IO_default_xsputn", "fwrite"},
  {"_IO_do_write", "fwrite"},
  {"_IO_file_overflow", "fwrite"},
  {"_IO_file_underflow", "fread"},
  {"_IO_file_write", "fwrite"},
  {"_IO_file_xsgetn", "fread"},
  {"_IO_file_xsputn", "fwrite"},
  {"_IO_new_do_write", "fwrite"},
  {"_IO_new_file_overflow", "fwrite"},
  {"_IO_new_file_underflow", "fread"},
  {"_IO_new_file_write", "fwrite"},
  {"_IO_new_file_xsputn", "fwrite"},
  {"__cos_local", "cos"},
  {"__exp1", "pow"},
  {"__exp1_fma", "pow"},
  {"__lll_lock_wait", "pthread_mutex_lock"},
  {"__lll_lock_wake", "pthread_mutex_unlock"},
  {"__offtime", "gmtime"},
  {"__printf_fp", "printf"},
  {"__printf_fp_l", "printf"},
  {"__pthread_cond_wait_common", "pthread_cond_wait"},
  {"__pthread_mutex_cond_lock", "pthread_cond_wait"},
  {"__pthread_mutex_lock_full", "pthread_mutex_lock"},
  {"__pthread_mutex_unlock_usercnt", "pthread_mutex_unlock"},
  {"__sin_local", "sin"},
  {"__tz_compute", "localtime"},
  {"__tz_convert", "localtime"},
  {"__tzfile_compute", "localtime"},
  {"_itoa_word", "printf"},
  {"_quicksort", "qsort"},
  {"arena_get2", "malloc"},
  {"arena_get_retry", "malloc"},
  {"heap_trim", "free"},
  {"mremap_chunk", "realloc"},
  {"msort_with_tmp", "qsort"},
  {"munmap_chunk", "free"},
  {"new_do_write", "fwrite"},
  {"ranged_convert", "mktime"},
  {"sysmalloc", "malloc"},
  {"systrim", "free"},
  {"tzset_internal", "localtime"},
};

/* The public procedure of that name, as the symbol table has it; NULL: there is none. */
static const char *exported(struct qzi_binary *binary, const char *name) {
  const struct qzi_symtab *table = qzi_functions(binary);
  if (!name[0] || name[0] == '_') return NULL;
  for (size_t k = 0; k < table->count; k++)
    if (!strcmp(table->entries[k].name, name) && qzi_symtab_is_global(&table->entries[k]))
      return table->entries[k].name;
  return NULL;
}

/* The name up to what says for which processors, or for whom inside the library, the procedure was made; false: there
 * is nothing of that kind. */
static bool without_ending(char *name) {
  static const char *const endings[] = {"_l_internal", "_internal", "_finite",   "_ifunc", "_compat",
                                        "_common",     "_impl",     "_nocancel", "_chk",   "_c"};
  static const char *const processors[] = {"_evex", "_avx", "_sse", "_ssse", "_erms", "_fma"};
  size_t length = strlen(name);
  EACH(endings, k) {
    size_t ending = strlen(endings[k]);
    if (length <= ending || strcmp(name + length - ending, endings[k]) != 0) continue;
    name[length - ending] = 0;
    return true;
  }
  EACH(processors, k) {
    char *at = strstr(name, processors[k]);
    if (!at || at == name) continue;
    *at = 0;
    return true;
  }
  return false;
}

/* Behind the first of these words; the text itself: it begins with none. */
static const char *behind_word(const char *text) {
  static const char *const words[] = {"ieee754_", "libc_", "int_", "IO_new_", "IO_", "new_", "isoc99_", "isoc23_"};
  EACH(words, k)
  if (BEGINS(text, words[k])) return text + strlen(words[k]);
  return text;
}

/* Whether the binary is the C library, or is linked statically with it. */
static bool is_static(struct qzi_binary *binary) {
  if (!binary->linkage_known) binary->linked_statically = exported(binary, "abort") != NULL;
  binary->linkage_known = true;
  return binary->linked_statically;
}

const char *qzi_public_name(struct qzi_binary *binary, const char *linkage) {
  bool library = qz_origin_of_module(binary->path) == QZ_ORIGIN_RUNTIME;
  size_t length = qzi_name_base_length(linkage);
  if (length >= NAME_MOST || (!library && (BEGINS(linkage, "_Z") || BEGINS(linkage, "_R") || linkage[0] != '_')))
    return NULL;
  if (!library && !is_static(binary)) return NULL;
  char name[NAME_MOST];
  memcpy(name, linkage, length);
  name[length] = 0;
  const char *inner = BEGINS(name, "__GI_") ? name + 5 : name;
  EACH(known, k)
  if (!strcmp(inner, known[k].inner)) return known[k].public;
  if (inner[0] != '_') return inner != name && library ? exported(binary, inner) : NULL;
  if (inner[1] != '_' && !BEGINS(inner, "_int_") && !BEGINS(inner, "_IO_")) return NULL; /* _exit is public */
  while (*inner == '_') inner++;
  char *core = name + (behind_word(inner) - name);
  bool is_plain = core == inner; /* nothing but underscores: in a program, they may be its own */
  for (;;) {
    const char *found = library || !is_plain ? exported(binary, core) : NULL;
    if (found) return found;
    if (!without_ending(core)) return NULL;
    is_plain = false;
  }
}
