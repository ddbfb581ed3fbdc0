/* Looks up names that a profile does not contain because it is still being recorded or its sampler died. Owns a
 * cache of symbol tables for the most recently read recording, so that a live screen, which reads the same file
 * repeatedly, looks each address up only once. */
#include "profile.h"

#ifdef QUARTZ_HAVE_SYMBOLS
#include <memory>
#include <mutex>
#include <symbols/symbols.h>
#endif

namespace quartz {

#ifdef QUARTZ_HAVE_SYMBOLS

namespace {

struct Recording {
  std::mutex busy; /* worker threads of one Node.js process share the addon */
  uint32_t pid = 0;
  uint64_t first_ns = 0;
  size_t modules = 0;
  std::unique_ptr<qz_symbols, decltype(&qz_symbols_free)> symbols{nullptr, qz_symbols_free};
};
Recording recording;

qz_symbols *symbolsOf(const Profile &profile) {
  const qz_profile_copy &copy = profile.copy;
  if (!recording.symbols || recording.pid != copy.head.pid || recording.first_ns != copy.head.first_ns ||
      recording.modules > copy.modules_count) {
    recording.symbols.reset(qz_symbols_new());
    recording.pid = copy.head.pid;
    recording.first_ns = copy.head.first_ns;
    recording.modules = 0;
  }
  for (; recording.symbols && recording.modules < copy.modules_count; recording.modules++) {
    const qz_module &module = copy.modules[recording.modules];
    qz_symbols_add_module(recording.symbols.get(), module.start, module.end, module.bias, profile.text(module.path),
                          profile.text(module.build_id));
  }
  return recording.symbols.get();
}

bool isMissing(const qz_entity &entity) {
  if (entity.address == 0 || entity.detail != 0 || entity.kind >= QZ_ENTITY_CODE_LOOP) return false;
  return entity.kind == QZ_ENTITY_PROCEDURE ? entity.name == 0 : entity.file == 0;
}

} // namespace

Found findMissingNames(const Profile &profile, const Known &known) {
  const qz_profile_copy &copy = profile.copy;
  Found found;
  found.callers.resize(copy.calls_count);
  bool missing = false;
  for (size_t k = 0; k < copy.calls_count; k++) {
    found.callers[k] = copy.calls[k].caller != 0 || k >= known.callers.size() ? copy.calls[k].caller : known.callers[k];
    missing |= found.callers[k] == 0;
  }
  for (size_t k = known.entities; k < copy.entities_count && !missing; k++) missing = isMissing(copy.entities[k]);
  if (!missing) return found;

  std::lock_guard<std::mutex> guard(recording.busy);
  qz_symbols *symbols = symbolsOf(profile);
  if (!symbols) return found;
  std::unordered_map<uint64_t, uint32_t> procedures;
  for (uint32_t k = 1; k < copy.entities_count; k++) {
    const qz_entity &entity = copy.entities[k];
    if (entity.kind == QZ_ENTITY_PROCEDURE) procedures.emplace(entity.address, k);
    if (k < known.entities || !isMissing(entity)) continue;
    bool object = entity.kind < QZ_KIND_COUNT;
    qz_symbol symbol;
    qz_symbol_status status =
      qz_symbols_find(symbols, entity.address, object ? QZ_SYMBOL_SITE : QZ_SYMBOL_PROCEDURE, &symbol);
    /* Threads and objects have names, or are named after their place; a thread may be named after its procedure, a
     * static object after its variable, and another after the procedure with its place, as when the recording ends. */
    qz_symbol variable;
    bool isStatic =
      object && entity.name == 0 && entity.variable != 0 && qz_symbols_variable(symbols, entity.variable, &variable);
    bool inside = object && entity.name == 0 && !isStatic && status == QZ_SYMBOL_FOUND && !*symbol.file;
    const char *name = isStatic ? variable.name : object && !inside ? "" : symbol.name;
    found.entities[k] = {name,        symbol.file,    symbol.detail,
                         symbol.line, symbol.missing, inside ? QZ_NAMING_INSIDE : QZ_NAMING_OWN};
  }
  for (uint32_t k = 0; k < copy.calls_count; k++) {
    if (found.callers[k] != 0 || copy.calls[k].site == 0) continue;
    qz_symbol symbol;
    if (qz_symbols_find(symbols, copy.calls[k].site, QZ_SYMBOL_SITE, &symbol) != QZ_SYMBOL_FOUND) continue;
    auto caller = procedures.find(symbol.entry);
    if (caller != procedures.end()) found.callers[k] = caller->second;
  }
  return found;
}

#else

Found findMissingNames(const Profile &, const Known &) { return {}; }

#endif

} // namespace quartz
