/* Sections of a profile as columns: one typed array for each field, so that a million rows are some dozen objects. */
#include <algorithm>
#include "profile.h"

namespace quartz {

namespace {

const char *kindName(uint32_t kind) {
  switch (kind) {
    case QZ_KIND_MUTEX: return "mutex";
    case QZ_KIND_RWLOCK: return "rwlock";
    case QZ_KIND_CONDITION: return "condition";
    case QZ_KIND_SEMAPHORE: return "semaphore";
    case QZ_KIND_BARRIER: return "barrier";
    case QZ_KIND_CHANNEL: return "channel";
    case QZ_KIND_JOIN: return "join";
    case QZ_KIND_SLEEP: return "sleep";
    case QZ_KIND_SPINLOCK: return "spinlock";
    case QZ_KIND_ONCE: return "once";
    case QZ_KIND_FUTEX: return "futex";
    case QZ_KIND_LOOP: return "loop";
    case QZ_ENTITY_THREAD: return "thread";
    default: return "procedure";
  }
}

/* A column of type Column (an element type of a typed array) from get(row index). */
template <typename Column, typename Get>
void column(Napi::Env env, Napi::Object &table, const char *name, size_t count, Get get) {
  auto array = Napi::TypedArrayOf<Column>::New(env, count);
  Column *data = array.Data();
  for (size_t k = 0; k < count; k++) data[k] = static_cast<Column>(get(k));
  table.Set(name, array);
}


/* The same for a field that is an array: the arrays of all rows, one after the other. */
template <typename Column, typename Get>
void columns(Napi::Env env, Napi::Object &table, const char *name, size_t count, size_t each, Get get) {
  column<Column>(env, table, name, count * each, [&](size_t k) { return get(k / each)[k % each]; });
}

#define COLUMN(type, name, rows, field) \
  column<type>(env, table, name, count, [&](size_t k) { return rows[k].field; })

}  // namespace

/* Rows of the entities from `from` on; of all, how many instances they have, the one thing that changes. */
static void addEntities(Napi::Env env, const Profile &profile, const Found &found, uint32_t from, Napi::Object &result) {
  const qz_profile_copy &copy = profile.copy;
  Napi::Array out = Napi::Array::New(env, copy.entities_count - from);
  for (uint32_t k = from; k < copy.entities_count; k++) {
    Napi::HandleScope scope(env);
    const qz_entity &entity = copy.entities[k];
    auto at = found.entities.find(k);
    const Found::Place *place = at == found.entities.end() ? nullptr : &at->second;
    Napi::Object row = Napi::Object::New(env);
    row.Set("kind", kindName(entity.kind));
    row.Set("name", place && entity.name == 0 ? place->name.c_str() : profile.text(entity.name));
    row.Set("file", place && entity.file == 0 ? place->file.c_str() : profile.text(entity.file));
    row.Set("line", Napi::Number::New(env, place && entity.file == 0 ? place->line : entity.line));
    row.Set("address", Napi::Number::New(env, static_cast<double>(entity.address)));
    row.Set("module", Napi::Number::New(env, entity.module));
    row.Set("record", Napi::Number::New(env, entity.record));
    row.Set("detail", place && entity.detail == 0 ? place->detail.c_str() : profile.text(entity.detail));
    row.Set("instances", Napi::Number::New(env, entity.instances));
    out.Set(k - from, row);
  }
  result.Set("entities", out);
  column<uint32_t>(env, result, "instances", copy.entities_count, [&](size_t k) { return copy.entities[k].instances; });
}

static void addSmallTables(Napi::Env env, const Profile &profile, Napi::Object &result) {
  const qz_profile_copy &copy = profile.copy;
  Napi::Array threads = Napi::Array::New(env, copy.threads_count);
  for (uint32_t k = 0; k < copy.threads_count; k++) {
    Napi::HandleScope scope(env);
    const qz_thread_stats &stats = copy.threads[k];
    Napi::Object row = Napi::Object::New(env);
    row.Set("entity", Napi::Number::New(env, stats.entity));
    row.Set("creator", Napi::Number::New(env, stats.creator));
    row.Set("serial", Napi::Number::New(env, static_cast<double>(stats.serial)));
    row.Set("firstNs", Napi::Number::New(env, static_cast<double>(stats.first_ns)));
    row.Set("lastNs", Napi::Number::New(env, static_cast<double>(stats.last_ns)));
    threads.Set(k, row);
  }
  result.Set("threads", threads);
  Napi::Array modules = Napi::Array::New(env, copy.modules_count);
  for (uint32_t k = 0; k < copy.modules_count; k++) {
    const qz_module &module = copy.modules[k];
    Napi::Object row = Napi::Object::New(env);
    row.Set("start", Napi::Number::New(env, static_cast<double>(module.start)));
    row.Set("end", Napi::Number::New(env, static_cast<double>(module.end)));
    row.Set("bias", Napi::Number::New(env, static_cast<double>(module.bias)));
    row.Set("path", profile.text(module.path));
    row.Set("buildId", profile.text(module.build_id));
    modules.Set(k, row);
  }
  result.Set("modules", modules);
}

void addSections(Napi::Env env, const Profile &profile, const Found &found, uint32_t from, Napi::Object result) {
  const qz_profile_copy &copy = profile.copy;
  auto text = Napi::Uint8Array::New(env, copy.strings_bytes);
  if (copy.strings_bytes > 0) std::copy_n(copy.strings, copy.strings_bytes, text.Data());
  result.Set("text", text);
  addEntities(env, profile, found, from, result);
  addSmallTables(env, profile, result);

  auto begin = [&](const char *name) {
    Napi::Object table = Napi::Object::New(env);
    result.Set(name, table);
    return table;
  };
  {
    Napi::Object table = begin("stacks");
    size_t count = copy.stacks_count;
    COLUMN(uint32_t, "parent", copy.stacks, parent);
    COLUMN(uint32_t, "entity", copy.stacks, entity);
  }
  {
    Napi::Object table = begin("tuples");
    size_t count = copy.tuples_count;
    COLUMN(uint32_t, "stack", copy.tuples, stack);
    COLUMN(uint32_t, "thread", copy.tuples, thread);
    COLUMN(uint8_t, "state", copy.tuples, state);
    COLUMN(uint8_t, "waiting", copy.tuples, waiting);
    COLUMN(uint8_t, "torn", copy.tuples, torn);
    COLUMN(uint16_t, "busy", copy.tuples, busy);
    COLUMN(uint16_t, "spinning", copy.tuples, spinning);
    COLUMN(uint32_t, "runnable", copy.tuples, runnable);
    COLUMN(double, "count", copy.tuples, count);
    COLUMN(double, "ns", copy.tuples, ns);
    COLUMN(double, "runnableNs", copy.tuples, runnable_ns);
  }
  {
    Napi::Object table = begin("balance");
    size_t count = copy.balance_count;
    COLUMN(uint16_t, "busy", copy.balance, busy);
    COLUMN(uint16_t, "spinning", copy.balance, spinning);
    COLUMN(uint32_t, "runnable", copy.balance, runnable);
    COLUMN(double, "overheadNs", copy.balance, overhead_ns);
    COLUMN(double, "count", copy.balance, count);
    COLUMN(double, "ns", copy.balance, ns);
    COLUMN(double, "runnableNs", copy.balance, runnable_ns);
  }
  {
    Napi::Object table = begin("objects");
    size_t count = copy.objects_count;
    COLUMN(uint32_t, "entity", copy.objects, entity);
    COLUMN(uint32_t, "capacity", copy.objects, capacity);
    COLUMN(double, "instances", copy.objects, instances);
    COLUMN(double, "acquisitions", copy.objects, acquisitions);
    COLUMN(double, "contended", copy.objects, contended);
    COLUMN(double, "waitNs", copy.objects, wait_ns);
    COLUMN(double, "waitMaxNs", copy.objects, wait_max_ns);
    COLUMN(double, "spinNs", copy.objects, spin_ns);
    COLUMN(double, "holdNs", copy.objects, hold_ns);
    COLUMN(double, "holdMaxNs", copy.objects, hold_max_ns);
    COLUMN(double, "observedNs", copy.objects, observed_ns);
    COLUMN(double, "queueLengthNs", copy.objects, queue_length_ns);
    columns<double>(env, table, "queueNs", count, QZ_QUEUE_BUCKETS, [&](size_t k) { return copy.objects[k].queue_ns; });
    columns<uint32_t>(env, table, "waitHist", count, QZ_TIME_BUCKETS, [&](size_t k) { return copy.objects[k].wait_hist; });
    columns<uint32_t>(env, table, "holdHist", count, QZ_TIME_BUCKETS, [&](size_t k) { return copy.objects[k].hold_hist; });
  }
  {
    Napi::Object table = begin("blame");
    size_t count = copy.blame_count;
    COLUMN(uint32_t, "object", copy.blame, object);
    COLUMN(uint32_t, "stack", copy.blame, stack);
    COLUMN(uint32_t, "thread", copy.blame, thread);
    COLUMN(uint32_t, "count", copy.blame, count);
    COLUMN(double, "ns", copy.blame, ns);
  }
  {
    Napi::Object table = begin("meanwhile");
    size_t count = copy.meanwhile_count;
    COLUMN(uint32_t, "object", copy.meanwhile, object);
    COLUMN(uint32_t, "stack", copy.meanwhile, stack);
    COLUMN(uint32_t, "thread", copy.meanwhile, thread);
    COLUMN(uint32_t, "count", copy.meanwhile, count);
    COLUMN(double, "ns", copy.meanwhile, ns);
    COLUMN(double, "waitersNs", copy.meanwhile, waiters_ns);
  }
  {
    Napi::Object table = begin("calls");
    size_t count = copy.calls_count;
    COLUMN(double, "site", copy.calls, site);
    column<uint32_t>(env, table, "caller", count, [&](size_t k) { return found.callers.empty() ? copy.calls[k].caller : found.callers[k]; });
    COLUMN(uint32_t, "callee", copy.calls, callee);
    COLUMN(double, "count", copy.calls, count);
  }
  {
    Napi::Object table = begin("timeline");
    size_t count = copy.timeline_count;
    COLUMN(double, "startNs", copy.timeline, start_ns);
    COLUMN(double, "ns", copy.timeline, ns);
    COLUMN(double, "usefulNs", copy.timeline, useful_ns);
    COLUMN(double, "overheadNs", copy.timeline, overhead_ns);
    COLUMN(double, "spinningNs", copy.timeline, spinning_ns);
    COLUMN(double, "idleNs", copy.timeline, idle_ns);
    COLUMN(double, "runnableNs", copy.timeline, runnable_ns);
    COLUMN(uint32_t, "snapshots", copy.timeline, snapshots);
    COLUMN(uint32_t, "top", copy.timeline, top);
  }
  {
    Napi::Object table = begin("processors");
    size_t count = copy.processors_count;
    COLUMN(double, "usefulNs", copy.processors, useful_ns);
    COLUMN(double, "overheadNs", copy.processors, overhead_ns);
    COLUMN(double, "spinningNs", copy.processors, spinning_ns);
    COLUMN(double, "idleNs", copy.processors, idle_ns);
  }
}

}  // namespace quartz
