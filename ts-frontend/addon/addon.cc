/* The Node.js addon: open(path, symbolize, byStack, known) reads a profile into columns
 * (ts-frontend/src/reader/profile.ts); `known` says which rows an earlier read of the same recording has given, which
 * are not given again (`from` says whether they were left out); save(path, target) writes what stands in a profile,
 * which may still be recorded, as a file of its own; outline(path) reads what a set of profiles takes; damage(path)
 * lists all that is wrong with a file, in clauses, and says of what kind it is; disassemble(modules, addresses) reads
 * the code of procedures from their binaries (disassembly.cc); purposesOf(kind, name, module) is what a name stands for
 * (abi/purpose.h). Owns nothing between calls but a cache of symbol tables (names.cc). */
#include "profile.h"

#include <cerrno>
#include <cstring>
#include <abi/checksum.h>
#include <abi/profile_write.h>

namespace quartz {

Profile::Profile(Napi::Env env, const std::string &path) {
  char why[512] = "";
  qz_profile_fault fault = qz_profile_load(&copy, path.c_str(), why, sizeof why);
  if (fault == QZ_FAULT_NONE) return;
  Napi::Error error = Napi::Error::New(env, path + ": " + why);
  error.Set("code", Napi::String::New(env, "QUARTZ_PROFILE"));
  error.Set("why", Napi::String::New(env, why));
  error.Set("fault", Napi::Number::New(env, fault));
  throw error;
}

/* Names of known rows may change when modules are added or the recording ends; then no row counts as known. */
static Known knownOf(const Napi::Value &value, const qz_profile_copy &copy) {
  Known known;
  if (!value.IsObject() || copy.head.status != QZ_PROFILE_RECORDING) return known;
  Napi::Object object = value.As<Napi::Object>();
  auto number = [&](const char *name) { return object.Get(name).ToNumber().DoubleValue(); };
  Napi::Value callers = object.Get("callers");
  if (number("pid") != copy.head.pid || number("firstNs") != static_cast<double>(copy.head.first_ns) ||
      number("modules") != copy.modules_count || !(number("entities") <= copy.entities_count) ||
      !callers.IsTypedArray() || callers.As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array)
    return known;
  known.entities = object.Get("entities").ToNumber().Uint32Value();
  Napi::Uint32Array column = callers.As<Napi::Uint32Array>();
  known.callers.assign(column.Data(), column.Data() + column.ElementLength());
  return known;
}

static Napi::Value open(const Napi::CallbackInfo &info) {
  Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsString()) throw Napi::TypeError::New(env, "open(path): path must be a string");
  auto flag = [&](size_t k, bool otherwise) {
    return info.Length() > k && info[k].IsBoolean() ? info[k].As<Napi::Boolean>().Value() : otherwise;
  };
  bool symbolize = flag(1, true), by_stack = flag(2, false);
  std::string path = info[0].As<Napi::String>().Utf8Value();
  Profile profile(env, path);
  Known known = knownOf(info.Length() < 4 ? env.Undefined() : info[3], profile.copy);
  Found found;
  if (symbolize) found = findMissingNames(profile, known);
  Napi::Object result = Napi::Object::New(env);
  result.Set("path", path);
  result.Set("head", headOf(env, profile));
  result.Set("from", Napi::Number::New(env, known.entities));
  addSections(env, profile, found, known.entities, by_stack, result);
  return result;
}

static Napi::Value outline(const Napi::CallbackInfo &info) {
  Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsString()) throw Napi::TypeError::New(env, "outline(path): path must be a string");
  std::string path = info[0].As<Napi::String>().Utf8Value();
  Profile profile(env, path);
  Napi::Object result = Napi::Object::New(env);
  result.Set("head", headOf(env, profile));
  addOutline(env, profile, result);
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

static Napi::Value damage(const Napi::CallbackInfo &info) {
  Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsString()) throw Napi::TypeError::New(env, "damage(path): path must be a string");
  char clauses[4096];
  Napi::Array list = Napi::Array::New(env);
  qz_profile_fault fault = qz_profile_damage(info[0].As<Napi::String>().Utf8Value().c_str(), clauses, sizeof clauses);
  uint32_t count = 0;
  for (char *rest = fault == QZ_FAULT_NONE ? nullptr : clauses, *clause; (clause = strsep(&rest, "\n")) != nullptr;)
    list.Set(count++, Napi::String::New(env, clause));
  Napi::Object out = Napi::Object::New(env);
  out.Set("fault", Napi::Number::New(env, fault));
  out.Set("clauses", list);
  return out;
}

/* For a name (and module) outside of any profile; tests of the model use it to make profiles. */
static Napi::Value purposesOf(const Napi::CallbackInfo &info) {
  auto text = [&](size_t k) { return info[k].ToString().Utf8Value(); };
  return Napi::Number::New(info.Env(), qz_purposes_of(text(0) == "thread", text(1).c_str(), text(2).c_str()));
}

static Napi::Value namingStyleOf(const Napi::CallbackInfo &info) {
  auto text = [&](size_t k) { return info[k].ToString().Utf8Value(); };
  return Napi::Number::New(info.Env(), qz_naming_style_of(text(0) == "thread", text(1).c_str(), text(2).c_str()));
}

/* The checksum of bytes outside of any profile (abi/checksum.h). */
static Napi::Value checksum(const Napi::CallbackInfo &info) {
  Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsTypedArray())
    throw Napi::TypeError::New(env, "checksum(bytes): bytes are needed");
  Napi::Uint8Array bytes = info[0].As<Napi::Uint8Array>();
  return Napi::Number::New(env, qz_checksum(0, bytes.Data(), bytes.ByteLength()));
}

static Napi::Object start(Napi::Env env, Napi::Object exports) {
  exports.Set("checksum", Napi::Function::New(env, checksum, "checksum"));
  exports.Set("mark", Napi::String::New(env, QUARTZ_ADDON_MARK));
  exports.Set("open", Napi::Function::New(env, open, "open"));
  exports.Set("damage", Napi::Function::New(env, damage, "damage"));
  exports.Set("disassemble", Napi::Function::New(env, disassemble, "disassemble"));
  exports.Set("outline", Napi::Function::New(env, outline, "outline"));
  exports.Set("namingStyleOf", Napi::Function::New(env, namingStyleOf, "namingStyleOf"));
  exports.Set("purposesOf", Napi::Function::New(env, purposesOf, "purposesOf"));
  exports.Set("save", Napi::Function::New(env, save, "save"));
  return exports;
}

} // namespace quartz

static Napi::Object startAddon(Napi::Env env, Napi::Object exports) { return quartz::start(env, exports); }
NODE_API_MODULE(quartz_addon, startAddon)
