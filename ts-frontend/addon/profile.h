/* What the parts of the addon share: a checked copy of a profile, and the names that were still missing in it.
 * Computes no metric; hands no byte offset to JavaScript but those of strings. */
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <napi.h>
#include <abi/profile_read.h>

namespace quartz {

/* Names, files, reasons and callers found for what the file does not name yet, by index of entity or call. */
struct Found {
  struct Place { std::string name, file, detail; uint32_t line = 0; };
  std::unordered_map<uint32_t, Place> entities;
  std::unordered_map<uint32_t, uint32_t> callers;
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

Found findMissingNames(const Profile &profile);                               /* names.cc */
Napi::Object headOf(Napi::Env env, const Profile &profile);                   /* head.cc */
void addSections(Napi::Env env, const Profile &profile, const Found &found, Napi::Object result); /* columns.cc */

}  // namespace quartz
