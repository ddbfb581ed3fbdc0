/* Reads code of a program from its binaries: the text of each instruction, its source line, the loops that contain
 * it, and whether it is in a loop that only polls memory. Uses nothing of a profile but the addresses of its
 * modules. Owns a cache of symbol tables for the modules of the last request. */
#include "profile.h"

#include <algorithm>
#include <cstring>

extern "C" {
#include <sampler/machine_code/loops/loop_nest.h>
#include <sampler/machine_code/loops/poll_loop.h>
#include <sampler/machine_code/print.h>
}

#ifdef QUARTZ_HAVE_SYMBOLS
#include <memory>
#include <mutex>
#include <symbols/symbols.h>
#endif

namespace quartz {

#ifdef QUARTZ_HAVE_SYMBOLS

namespace {

constexpr size_t codeMost = 1 << 20; /* maximum size of a piece of code in bytes */
constexpr size_t chainMost = 16;

struct Symbols {
  std::mutex busy; /* worker threads of one Node.js process share the addon */
  std::string modules;
  std::unique_ptr<qz_symbols, decltype(&qz_symbols_free)> of{nullptr, qz_symbols_free};
};
Symbols cache;

std::string textOf(const Napi::Object &object, const char *name) { return object.Get(name).ToString().Utf8Value(); }
uint64_t numberOf(const Napi::Object &object, const char *name) {
  double value = object.Get(name).ToNumber().DoubleValue();
  return value > 0 ? static_cast<uint64_t>(value) : 0;
}

qz_symbols *symbolsOf(const Napi::Array &modules) {
  std::string key;
  for (uint32_t k = 0; k < modules.Length(); k++) {
    Napi::Object module = modules.Get(k).As<Napi::Object>();
    for (const char *name : {"path", "buildId", "start", "end", "bias"}) key += textOf(module, name) + '\n';
  }
  if (cache.of && cache.modules == key) return cache.of.get();
  cache.of.reset(qz_symbols_new());
  cache.modules = key;
  for (uint32_t k = 0; cache.of && k < modules.Length(); k++) {
    Napi::Object module = modules.Get(k).As<Napi::Object>();
    qz_symbols_add_module(cache.of.get(), numberOf(module, "start"), numberOf(module, "end"), numberOf(module, "bias"),
                          textOf(module, "path").c_str(), textOf(module, "buildId").c_str());
  }
  return cache.of.get();
}

uint64_t biasOf(const Napi::Array &modules, uint64_t address) {
  for (uint32_t k = 0; k < modules.Length(); k++) {
    Napi::Object module = modules.Get(k).As<Napi::Object>();
    if (address >= numberOf(module, "start") && address < numberOf(module, "end")) return numberOf(module, "bias");
  }
  return 0;
}

struct Place {
  std::string file;
  uint32_t line = 0;
};
/* The place in the program's own code, which for inlined code is the place of the call. */
Place placeOf(qz_symbols *symbols, uint64_t address) {
  qz_symbol inlined[chainMost], found = {};
  size_t depth = qz_symbols_inlined(symbols, address, inlined, chainMost);
  if (!qz_symbols_scope_line(symbols, address, depth, &found)) return {};
  return {found.file, found.line};
}

/* The place of a loop as in call paths (sampler/callpath/code_loops.c): the lowest line of its backward jumps, in
 * the innermost scope that contains all of them. */
Place placeOf(qz_symbols *symbols, const qzi_code_loop &loop) {
  qz_symbol chain[chainMost], other[chainMost];
  size_t kept = std::min<size_t>(loop.count, QZI_LOOP_SOURCES), depth = 0;
  for (size_t k = 0; k < kept; k++) {
    size_t count = qz_symbols_inlined(symbols, loop.sources[k], k ? other : chain, chainMost), same = 0;
    while (k && same < depth && same < count && chain[same].line == other[same].line &&
           !std::strcmp(chain[same].name, other[same].name) && !std::strcmp(chain[same].file, other[same].file))
      same++;
    depth = k ? same : count;
  }
  Place best;
  for (size_t k = 0; k < kept; k++) {
    qz_symbol found = {};
    if (!qz_symbols_scope_line(symbols, loop.sources[k], depth, &found)) continue;
    if (best.line == 0 || (found.line < best.line && best.file == found.file)) best = {found.file, found.line};
  }
  return best;
}

/* One piece of code. */
class Piece {
public:
  /* bias: subtracted from printed addresses, which makes them addresses in the binary. */
  Piece(Napi::Env env, qz_symbols *symbols, uint64_t start, uint64_t bias, const std::vector<unsigned char> &code)
      : env(env), symbols(symbols), start(start), bias(bias), code(code) {
    qzi_code_piece piece = {code.data(), code.size(), start};
    failed = qzi_loop_nest_of(&nest, QZI_X86_64, &piece, 1, 1) != 0;
    for (uint32_t k = 0; !failed && k < nest.loop_count; k++) {
      qzi_code all = {start, code.data(), code.size()};
      places.push_back(placeOf(symbols, nest.loops[k]));
      polls.push_back(qzi_poll_loop(&all, nest.loops[k].header, 0, nullptr) != 0);
    }
  }
  ~Piece() {
    if (!failed) qzi_loop_nest_free(&nest);
  }
  Piece(const Piece &) = delete;
  Piece &operator=(const Piece &) = delete;

  Napi::Array instructions() const {
    Napi::Array out = Napi::Array::New(env);
    uint32_t count = 0;
    for (size_t at = 0; at < code.size();) {
      Napi::HandleScope scope(env);
      char text[160] = "";
      size_t length = qzi_print(code.data() + at, code.size() - at, start + at - bias, text, sizeof text);
      if (!length) break;
      out.Set(count++, row(start + at, text));
      at += length;
    }
    return out;
  }

private:
  Napi::Object row(uint64_t address, const char *text) const {
    Napi::Object row = Napi::Object::New(env);
    Place place = placeOf(symbols, address);
    row.Set("address", Napi::Number::New(env, static_cast<double>(address)));
    row.Set("text", text);
    row.Set("file", place.file);
    row.Set("line", place.line);
    uint32_t innermost = failed ? 0 : qzi_loop_nest_at(&nest, address), depth = 0;
    Napi::Array loops = Napi::Array::New(env);
    for (uint32_t at = innermost; at && depth < 64; at = nest.loops[at - 1].outer) {
      Napi::Object loop = Napi::Object::New(env);
      loop.Set("address", Napi::Number::New(env, static_cast<double>(nest.loops[at - 1].header)));
      loop.Set("file", places[at - 1].file);
      loop.Set("line", places[at - 1].line);
      loops.Set(depth++, loop);
    }
    row.Set("loops", loops);
    row.Set("polls", Napi::Boolean::New(env, innermost != 0 && polls[innermost - 1]));
    return row;
  }

  Napi::Env env;
  qz_symbols *symbols;
  uint64_t start, bias;
  const std::vector<unsigned char> &code;
  qzi_loop_nest nest = {};
  bool failed = false;
  std::vector<Place> places; /* one for each loop */
  std::vector<bool> polls;
};

Napi::Object pieceAt(Napi::Env env, qz_symbols *symbols, uint64_t address, uint64_t bias, uint64_t *end) {
  Napi::Object out = Napi::Object::New(env);
  uint64_t start = 0;
  *end = 0;
  auto fail = [&](const char *why) {
    out.Set("start", Napi::Number::New(env, static_cast<double>(address)));
    out.Set("error", why);
    out.Set("instructions", Napi::Array::New(env));
    return out;
  };
  if (!qzi_prints()) return fail("instructions cannot be decoded on this machine (x86-64 with Zydis can)");
  const char *why = "";
  unsigned char first;
  if (!qz_symbols_code(symbols, address, &first, 1, &why)) return fail(why);
  if (!qz_symbols_extent(symbols, address, &start, end) || *end <= address)
    return fail("its symbol table does not say where the procedure begins and ends");
  std::vector<unsigned char> code(std::min<uint64_t>(*end - start, codeMost));
  code.resize(qz_symbols_code(symbols, start, code.data(), code.size(), &why));
  if (code.empty()) return fail(why);
  out.Set("start", Napi::Number::New(env, static_cast<double>(start)));
  out.Set("error", "");
  out.Set("instructions", Piece(env, symbols, start, bias, code).instructions());
  return out;
}

} // namespace

/* disassemble(modules, addresses): each piece of code that contains one of the addresses, which must be ascending. */
Napi::Value disassemble(const Napi::CallbackInfo &info) {
  Napi::Env env = info.Env();
  if (info.Length() < 2 || !info[0].IsArray() || !info[1].IsArray())
    throw Napi::TypeError::New(env, "disassemble(modules, addresses): both must be arrays");
  std::lock_guard<std::mutex> guard(cache.busy);
  qz_symbols *symbols = symbolsOf(info[0].As<Napi::Array>());
  Napi::Array addresses = info[1].As<Napi::Array>(), out = Napi::Array::New(env);
  uint64_t end = 0;
  for (uint32_t k = 0, count = 0; symbols && k < addresses.Length(); k++) {
    double value = addresses.Get(k).ToNumber().DoubleValue();
    uint64_t address = value > 0 ? static_cast<uint64_t>(value) : 0;
    if (address >= end)
      out.Set(count++, pieceAt(env, symbols, address, biasOf(info[0].As<Napi::Array>(), address), &end));
  }
  return out;
}

#else

Napi::Value disassemble(const Napi::CallbackInfo &info) { return Napi::Array::New(info.Env()); }

#endif

} // namespace quartz
