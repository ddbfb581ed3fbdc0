/* What the parts of the addon share: a validated copy of a profile, and names that were looked up for it. Computes
 * no metrics; the only byte offsets that it passes to JavaScript are those of strings. */
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>
#include <napi.h>
#include <abi/profile_read.h>

namespace quartz {

/* Names, files and reasons that were looked up because the file does not contain them, by index of entity. */
struct Found {
  struct Place {
    std::string name, file, detail;
    uint32_t line = 0;
    qz_missing missing = QZ_MISSING_NOTHING;
    qz_naming naming = QZ_NAMING_OWN;
  };
  std::unordered_map<uint32_t, Place> entities;
  std::vector<uint32_t> callers; /* for all calls; empty: use those of the file */
};

/* What an earlier read of the same recording has returned. */
struct Known {
  uint32_t entities = 0;         /* names of entities below this index are known */
  std::vector<uint32_t> callers; /* for each call, 0 = unknown */
};

class Profile {
public:
  /* Throws Napi::Error with `code` QUARTZ_PROFILE if the file cannot be read. */
  Profile(Napi::Env env, const std::string &path);
  ~Profile() { qz_profile_unload(&copy); }
  Profile(const Profile &) = delete;
  Profile &operator=(const Profile &) = delete;
  const char *text(uint32_t offset) const { return qz_profile_string(&copy, offset); }
  qz_profile_copy copy;
};

/* Disassembles the code at addresses of a program: disassembly.cc */
Napi::Value disassemble(const Napi::CallbackInfo &info);
/* names.cc */
Found findMissingNames(const Profile &profile, const Known &known);
Napi::Object headOf(Napi::Env env, const Profile &profile); /* head.cc */
/* Adds entities from `from` on and all other sections; tuples in the order of the file, or sorted by stack.
 * columns.cc */
void addSections(Napi::Env env, const Profile &profile, const Found &found, uint32_t from, bool by_stack,
                 Napi::Object result);
/* Adds the parts that a set of profiles needs: objects for which a thread waited; entities as columns whose texts
 * are offsets. columns.cc */
void addOutline(Napi::Env env, const Profile &profile, Napi::Object result);

} // namespace quartz
