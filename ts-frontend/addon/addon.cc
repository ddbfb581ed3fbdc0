/* The Node.js addon: open(path, symbolize) reads a profile into columns (ts-frontend/src/model/raw.ts);
 * save(path, target) writes what stands in a profile, which may still be recorded, as a file of its own.
 * Owns nothing between calls but a cache of symbol tables (names.cc). */
#include "profile.h"

#include <cerrno>
#include <cstring>
#include <abi/profile_write.h>

namespace quartz {

Profile::Profile(Napi::Env env, const std::string &path) {
  char why[512] = "";
  if (qz_profile_load(&copy, path.c_str(), why, sizeof why) == 0) return;
  Napi::Error error = Napi::Error::New(env, path + ": " + why);
  error.Set("code", Napi::String::New(env, "QUARTZ_PROFILE"));
  error.Set("why", Napi::String::New(env, why));
  throw error;
}

static Napi::Value open(const Napi::CallbackInfo &info) {
  Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsString()) throw Napi::TypeError::New(env, "open(path): path must be a string");
  bool symbolize = info.Length() < 2 || !info[1].IsBoolean() || info[1].As<Napi::Boolean>().Value();
  std::string path = info[0].As<Napi::String>().Utf8Value();
  Profile profile(env, path);
  Found found;
  if (symbolize) found = findMissingNames(profile);
  Napi::Object result = Napi::Object::New(env);
  result.Set("path", path);
  result.Set("head", headOf(env, profile));
  addSections(env, profile, found, result);
  return result;
}

static Napi::Value save(const Napi::CallbackInfo &info) {
  Napi::Env env = info.Env();
  if (info.Length() < 2 || !info[0].IsString() || !info[1].IsString())
    throw Napi::TypeError::New(env, "save(path, target): both must be strings");
  Profile profile(env, info[0].As<Napi::String>().Utf8Value());
  std::string target = info[1].As<Napi::String>().Utf8Value();
  if (qz_profile_store(&profile.copy, target.c_str()) != 0)
    throw Napi::Error::New(env, target + " cannot be written: " + std::strerror(errno));
  return env.Undefined();
}

static Napi::Object start(Napi::Env env, Napi::Object exports) {
  exports.Set("open", Napi::Function::New(env, open, "open"));
  exports.Set("save", Napi::Function::New(env, save, "save"));
  return exports;
}

}  // namespace quartz

static Napi::Object startAddon(Napi::Env env, Napi::Object exports) { return quartz::start(env, exports); }
NODE_API_MODULE(quartz_addon, startAddon)
