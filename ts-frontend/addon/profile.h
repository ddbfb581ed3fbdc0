/* What the parts of the addon share: a checked copy of a profile, and the names that were still missing in it.
 * Computes no metric; hands no byte offset to JavaScript but those of strings. */
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>
#include <napi.h>
#include <abi/profile_read.h>

namespace quartz {

/* Names, files and reasons found for what the file does not name yet, by index of entity. */
struct Found {
  struct Place {
    std::string name, file, detail;
    uint32_t line = 0;
    qz_missing missing = QZ_MISSING_NOTHING;
  };
  std::unordered_map<uint32_t, Place> entities;
  std::vector<uint32_t> callers; /* of all calls; empty: as the file has them */
};

/* What an earlier read of the same recording has given. */
struct Known {
  uint32_t entities = 0;         /* names of those before are known */
  std::vector<uint32_t> callers; /* of calls, 0 = unknown */
};

class Profile {
public:
  /* Throws Napi::Error with `code` QUARTZ_PROFILE. */
  Profile(Napi::Env env, const std::string &path);
  ~Profile() { qz_profile_unload(&copy); }
  Profile(const Profile &) = delete;
  Profile &operator=(const Profile &) = delete;
  const char *text(uint32_t offset) const { return qz_profile_string(&copy, offset); }
  qz_profile_copy copy;
};

/* What machine code says, of code around some addresses of a program: disassembly.cc */
Napi::Value disassemble(const Napi::CallbackInfo &info);
/* names.cc */
Found findMissingNames(const Profile &profile, const Known &known);
Napi::Object headOf(Napi::Env env, const Profile &profile); /* head.cc */
/* Entities from `from` on, all of the rest; tuples in the order of the file, or of their stacks. columns.cc */
void addSections(Napi::Env env, const Profile &profile, const Found &found, uint32_t from, bool by_stack,
                 Napi::Object result);
/* What a set of profiles takes: of objects those that somebody waited for; entities as columns, whose texts are
 * offsets. columns.cc */
void addOutline(Napi::Env env, const Profile &profile, Napi::Object result);

} // namespace quartz
