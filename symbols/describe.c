/* Names, places and reasons of answers. See store.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "store.h"

const struct qz_symbol qzi_no_symbol = {
  .name = "", .full_name = "", .linkage = "", .file = "", .module = "", .detail = ""};

static const char *file_text(qz_symbols *symbols, const struct qzi_place *place) {
  char path[8192];
  bool relative = place->file[0] != '/' && place->directory[0];
  int length =
    snprintf(path, sizeof path, "%s%s%s", relative ? place->directory : "", relative ? "/" : "", place->file);
  if (length < 0 || (size_t)length >= sizeof path)
    return qzi_arena_text(&symbols->arena, place->file, strlen(place->file));
  qzi_path_normalize(path);
  return qzi_arena_text(&symbols->arena, path, strlen(path));
}

void qzi_set_place(qz_symbols *symbols, struct qz_symbol *symbol, const struct qzi_place *place) {
  if (!place->file || place->line <= 0) return;
  symbol->file = file_text(symbols, place);
  symbol->line = (uint32_t)place->line;
}

void qzi_set_name(qz_symbols *symbols, struct qz_symbol *symbol, const char *linkage, const char *part) {
  symbol->linkage = qzi_arena_text(&symbols->arena, linkage, strlen(linkage));
  size_t base_length = qzi_name_base_length(linkage), region_length = qzi_name_region(linkage, base_length);
  base_length -= region_length;
  char *base = strndup(linkage, base_length);
  char *rust = base ? qzi_rust_demangle(base) : NULL, *demangled = rust || !base ? rust : qzi_demangle(base);
  const char *full = demangled ? demangled : base ? base : linkage;
  size_t length = strlen(full);
  char *text = malloc(length + region_length + (part ? strlen(part) : 0) + 1);
  if (text) {
    if (demangled && !rust)
      qzi_name_without_parameters(full, text);
    else if (!base ||
             (!qzi_name_fortran(base, text) && !qzi_name_variant(base, text) && !qzi_name_critical(base, text)))
      memcpy(text, full, length + 1);
    strncat(text, linkage + base_length, region_length);
    if (part) strcat(text, part);
    symbol->name = qzi_arena_text(&symbols->arena, text, strlen(text));
    symbol->full_name =
      demangled && !part && !region_length ? qzi_arena_text(&symbols->arena, full, length) : symbol->name;
  }
  free(text);
  free(demangled);
  free(base);
}

void qzi_set_offset_name(qz_symbols *symbols, struct qz_symbol *symbol, const char *path, uint64_t offset) {
  const char *slash = strrchr(path, '/');
  char text[320];
  int length =
    snprintf(text, sizeof text, "%.256s%s0x%" PRIx64, slash && slash[1] ? slash + 1 : path, path[0] ? "+" : "", offset);
  symbol->name = symbol->full_name = qzi_arena_text(&symbols->arena, text, (size_t)length);
}

void qzi_set_missing(struct qz_symbol *symbol, enum qz_missing missing, const char *whole, const char *here) {
  symbol->missing = missing;
  symbol->detail = whole[0] ? whole : here;
}
