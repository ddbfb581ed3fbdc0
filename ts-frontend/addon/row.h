/* A JavaScript object whose fields are set one by one. */
#pragma once
#include <napi.h>

namespace quartz {

class Row {
public:
  explicit Row(Napi::Env env) : env(env), object(Napi::Object::New(env)) {}
  template <typename Number> void number(const char *name, Number number) { real(name, static_cast<double>(number)); }
  void flag(const char *name, bool flag) { value(name, Napi::Boolean::New(env, flag)); }
  void text(const char *name, const char *text) { value(name, Napi::String::New(env, text)); }
  /* Not inlined, since a call of Node-API is much code with its checks, and rows have many fields. */
  [[gnu::noinline]] void value(const char *name, Napi::Value value) { object.Set(name, value); }
  const Napi::Object &made() const { return object; }

private:
  [[gnu::noinline]] void real(const char *name, double number) { value(name, Napi::Number::New(env, number)); }
  Napi::Env env;
  Napi::Object object;
};

} // namespace quartz
