/* Converts sections of a profile to columns: one typed array for each field, because a million JavaScript objects
 * would take too much time and memory. */
#include <algorithm>
#include <cstddef>
#include "column_fields.h"
#include "profile.h"

namespace quartz {

namespace {

template <typename From, typename To>
void convert(const unsigned char *row, size_t stride, size_t count, size_t times, To *to) {
  for (size_t k = 0; k < count; k++, row += stride, to += times)
    for (size_t t = 0; t < times; t++) to[t] = static_cast<To>(reinterpret_cast<const From *>(row)[t]);
}

/* The column of a field, filled in parts. */
struct Column {
  Field field;
  Napi::TypedArray array;
  void *data;
  Column(Napi::Env env, const Field &field, size_t rows) : field(field) {
    size_t count = rows * field.times;
    switch (field.bytes) {
    case 1: hold(Napi::Uint8Array::New(env, count)); break;
    case 2: hold(Napi::Uint16Array::New(env, count)); break;
    case 4: hold(Napi::Uint32Array::New(env, count)); break;
    default: hold(Napi::Float64Array::New(env, count));
    }
  }
  /* Copies the field of `count` rows that begin at `rows` to the elements from row `first` on. */
  void fill(const unsigned char *rows, size_t stride, size_t count, size_t first) {
    const unsigned char *from = rows + field.at;
    size_t at = first * field.times;
    switch (field.bytes) {
    case 1: convert<uint8_t>(from, stride, count, field.times, static_cast<uint8_t *>(data) + at); break;
    case 2: convert<uint16_t>(from, stride, count, field.times, static_cast<uint16_t *>(data) + at); break;
    case 4: convert<uint32_t>(from, stride, count, field.times, static_cast<uint32_t *>(data) + at); break;
    default: convert<uint64_t>(from, stride, count, field.times, static_cast<double *>(data) + at);
    }
  }

private:
  template <typename Array> void hold(Array made) {
    array = made;
    data = made.Data();
  }
};

/* The table `name` of a section, with its rows in the given order if there is one. */
template <typename Row, typename Fields>
Napi::Object addTable(Napi::Env env, Napi::Object &result, const char *name, const Fields &fields, const Row *rows,
                      size_t count, const std::vector<uint32_t> &order = {}) {
  std::vector<Column> columns;
  columns.reserve(std::size(fields));
  for (const Field &one : fields) columns.emplace_back(env, one, count);
  constexpr size_t block = 128; /* rows that fit into a first-level cache while all columns are filled */
  std::vector<Row> gathered(order.empty() ? 0 : block);
  for (size_t k = 0; k < count; k += block) {
    size_t some = std::min(block, count - k);
    const Row *from = rows + k;
    if (!order.empty()) {
      for (size_t j = 0; j < some; j++) {
        __builtin_prefetch(rows + order[std::min(k + j + 16, count - 1)]);
        gathered[j] = rows[order[k + j]];
      }
      from = gathered.data();
    }
    for (Column &column : columns) column.fill(reinterpret_cast<const unsigned char *>(from), sizeof(Row), some, k);
  }
  Napi::Object table = Napi::Object::New(env);
  for (Column &column : columns) table.Set(column.field.name, column.array);
  result.Set(name, table);
  return table;
}

/* Indices of tuples sorted by stack; tuples of one stack keep their order in the file. */
std::vector<uint32_t> orderByStack(const qz_profile_copy &copy) {
  std::vector<uint32_t> next(std::max<size_t>(copy.stacks_count, 1) + 1), order(copy.tuples_count);
  for (size_t k = 0; k < copy.tuples_count; k++) next[copy.tuples[k].stack + 1]++;
  for (size_t n = 1; n < next.size(); n++) next[n] += next[n - 1];
  for (size_t k = 0; k < copy.tuples_count; k++) order[next[copy.tuples[k].stack]++] = static_cast<uint32_t>(k);
  return order;
}

} // namespace

/* Adds the rows of entities from `from` on; the number of instances, the only field that changes, for all entities. */
static void addEntities(Napi::Env env, const Profile &profile, const Found &found, uint32_t from,
                        Napi::Object &result) {
  const qz_profile_copy &copy = profile.copy;
  Napi::Array out = Napi::Array::New(env, copy.entities_count - from);
  for (uint32_t k = from; k < copy.entities_count; k++) {
    Napi::HandleScope scope(env);
    const qz_entity &entity = copy.entities[k];
    auto at = found.entities.find(k);
    const Found::Place *place = at == found.entities.end() ? nullptr : &at->second;
    Napi::Object row = Napi::Object::New(env);
    const char *name = place && entity.name == 0 ? place->name.c_str() : profile.text(entity.name);
    const char *module = entity.module ? profile.text(copy.modules[entity.module - 1].path) : "";
    qz_origin decided = static_cast<qz_origin>(entity.origin);
    row.Set("kind", Napi::Number::New(env, entity.kind));
    row.Set("name", name);
    const char *file = place && entity.file == 0 ? place->file.c_str() : profile.text(entity.file);
    row.Set("file", file);
    row.Set("line", Napi::Number::New(env, place && entity.file == 0 ? place->line : entity.line));
    row.Set("address", Napi::Number::New(env, static_cast<double>(entity.address)));
    row.Set("module", Napi::Number::New(env, entity.module));
    row.Set("record", Napi::Number::New(env, entity.record));
    row.Set("detail", place && entity.detail == 0 ? place->detail.c_str() : profile.text(entity.detail));
    row.Set("instances", Napi::Number::New(env, entity.instances));
    row.Set("origin",
            Napi::Number::New(env, decided != QZ_ORIGIN_UNKNOWN ? decided : qz_origin_of(name, module, file)));
    row.Set("purposes", Napi::Number::New(env, entity.purposes && !(place && entity.name == 0)
                                                 ? entity.purposes
                                                 : qz_purposes_of(entity.kind == QZ_ENTITY_THREAD, name, module)));
    row.Set("style", Napi::Number::New(env, qz_naming_style_of(entity.kind == QZ_ENTITY_THREAD, name, module)));
    row.Set("libraryWait", Napi::Number::New(env, entity.library_wait));
    row.Set("libraryLock", Napi::Number::New(env, qz_library_lock_of(name)));
    row.Set("naming", Napi::Number::New(env, place && entity.name == 0 ? uint32_t{place->naming} : entity.naming));
    row.Set("missing", Napi::Number::New(env, place && entity.detail == 0 ? uint32_t{place->missing} : entity.missing));
    out.Set(k - from, row);
  }
  result.Set("entities", out);
  auto instances = Napi::Uint32Array::New(env, copy.entities_count);
  for (size_t k = 0; k < copy.entities_count; k++) instances[k] = copy.entities[k].instances;
  result.Set("instances", instances);
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
    row.Set("sleeps", Napi::Number::New(env, static_cast<double>(stats.sleeps)));
    row.Set("intervalUs", Napi::Number::New(env, static_cast<double>(stats.interval_us)));
    row.Set("intervalUs2", Napi::Number::New(env, static_cast<double>(stats.interval_us2)));
    row.Set("lengthUs", Napi::Number::New(env, static_cast<double>(stats.length_us)));
    row.Set("lengthUs2", Napi::Number::New(env, static_cast<double>(stats.length_us2)));
    threads.Set(k, row);
  }
  result.Set("threads", threads);
  Napi::Array answers = Napi::Array::New(env, copy.what_if_count);
  for (uint32_t k = 0; k < copy.what_if_count; k++) {
    const qz_what_if_answer &answer = copy.what_if[k];
    Napi::Object row = Napi::Object::New(env);
    row.Set("kind", Napi::Number::New(env, answer.kind));
    row.Set("name", profile.text(answer.name));
    row.Set("entity", Napi::Number::New(env, answer.entity));
    row.Set("seen", Napi::Boolean::New(env, (answer.flags & QZ_ANSWER_SEEN) != 0));
    row.Set("found", Napi::Boolean::New(env, (answer.flags & QZ_ANSWER_FOUND) != 0));
    row.Set("missed", Napi::Boolean::New(env, (answer.flags & QZ_ANSWER_MISSED) != 0));
    row.Set("site", Napi::Number::New(env, static_cast<double>(answer.site)));
    row.Set("sinceNs", Napi::Number::New(env, static_cast<double>(answer.since_ns)));
    row.Set("factor", Napi::Number::New(env, static_cast<double>(answer.factor) / QZ_WHAT_IF_ONE));
    row.Set("spanNs", Napi::Number::New(env, static_cast<double>(answer.span_ns)));
    row.Set("workNs", Napi::Number::New(env, static_cast<double>(answer.work_ns)));
    answers.Set(k, row);
  }
  result.Set("whatIf", answers);
  Napi::Array lines = Napi::Array::New(env, copy.lines_count);
  for (uint32_t k = 0; k < copy.lines_count; k++) {
    Napi::HandleScope scope(env);
    const qz_shared_line &line = copy.lines[k];
    Napi::Object row = Napi::Object::New(env);
    Napi::Array by = Napi::Array::New(env);
    for (const qz_line_user &user : line.by) {
      if (user.samples == 0) continue;
      Napi::Object one = Napi::Object::New(env);
      one.Set("thread", Napi::Number::New(env, user.thread));
      one.Set("procedure", Napi::Number::New(env, user.procedure));
      one.Set("samples", Napi::Number::New(env, static_cast<double>(user.samples)));
      one.Set("written", Napi::Number::New(env, user.written));
      one.Set("read", Napi::Number::New(env, user.read));
      one.Set("locked", Napi::Number::New(env, user.locked));
      by.Set(by.Length(), one);
    }
    row.Set("address", Napi::Number::New(env, static_cast<double>(line.address)));
    row.Set("variable", profile.text(line.variable));
    row.Set("samples", Napi::Number::New(env, static_cast<double>(line.samples)));
    row.Set("turns", Napi::Number::New(env, static_cast<double>(line.turns)));
    row.Set("by", by);
    lines.Set(k, row);
  }
  result.Set("sharedLines", lines);
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

static void addText(Napi::Env env, const qz_profile_copy &copy, Napi::Object &result) {
  auto text = Napi::Uint8Array::New(env, copy.strings_bytes);
  if (copy.strings_bytes > 0) std::copy_n(copy.strings, copy.strings_bytes, text.Data());
  result.Set("text", text);
}

void addOutline(Napi::Env env, const Profile &profile, Napi::Object result) {
  const qz_profile_copy &copy = profile.copy;
  std::vector<uint32_t> waited; /* objects for which a thread waited */
  for (uint32_t k = 0; k < copy.objects_count; k++) {
    const qz_object_stats &object = copy.objects[k];
    if (object.wait_ns != 0 || object.contended != 0 || object.queue_length_ns != 0) waited.push_back(k);
  }
  addText(env, copy, result);
  addTable(env, result, "entities", outlineEntityFields, copy.entities, copy.entities_count);
  addTable(env, result, "stacks", stackFields, copy.stacks, copy.stacks_count);
  addTable(env, result, "tuples", outlineTupleFields, copy.tuples, copy.tuples_count);
  addTable(env, result, "messages", messageFields, copy.messages, copy.messages_count);
  addTable(env, result, "balance", balanceFields, copy.balance, copy.balance_count);
  addTable(env, result, "objects", outlineObjectFields, copy.objects, waited.size(), waited);
  addTable(env, result, "onPath", onPathFields, copy.on_path, copy.on_path_count);
  addTable(env, result, "calls", callFields, copy.calls, copy.calls_count);
  addSmallTables(env, profile, result);
}

void addSections(Napi::Env env, const Profile &profile, const Found &found, uint32_t from, bool by_stack,
                 Napi::Object result) {
  const qz_profile_copy &copy = profile.copy;
  addText(env, copy, result);
  addEntities(env, profile, found, from, result);
  addSmallTables(env, profile, result);

  addTable(env, result, "stacks", stackFields, copy.stacks, copy.stacks_count);
  addTable(env, result, "tuples", tupleFields, copy.tuples, copy.tuples_count,
           by_stack ? orderByStack(copy) : std::vector<uint32_t>());
  addTable(env, result, "balance", balanceFields, copy.balance, copy.balance_count);
  addTable(env, result, "objects", objectFields, copy.objects, copy.objects_count);
  addTable(env, result, "blame", blameFields, copy.blame, copy.blame_count);
  addTable(env, result, "waitOverlap", waitOverlapFields, copy.wait_overlap, copy.wait_overlap_count);
  addTable(env, result, "onPath", onPathFields, copy.on_path, copy.on_path_count);
  addTable(env, result, "segments", segmentFields, copy.segments, copy.segments_count);
  addTable(env, result, "onSpan", onSpanFields, copy.on_span, copy.on_span_count);
  addTable(env, result, "sites", siteFields, copy.sites, copy.sites_count);
  addTable(env, result, "levels", levelFields, copy.levels, copy.levels_count);
  addTable(env, result, "instructions", instructionFields, copy.instructions, copy.instructions_count);
  addTable(env, result, "messages", messageFields, copy.messages, copy.messages_count);
  addTable(env, result, "cpuLimits", cpuLimitFields, copy.cpu_limits, copy.cpu_limits_count);
  addTable(env, result, "counted", countedFields, copy.counted, copy.counted_count);
  addTable(env, result, "slices", sliceFields, copy.slices, copy.slices_count);
  addTable(env, result, "unwinding", unwindingFields, copy.unwinding, copy.unwinding_count);
  addTable(env, result, "recentPaths", recentPathFields, copy.recent_paths, copy.recent_paths_count);
  addTable(env, result, "recentSegments", segmentFields, copy.recent_segments, copy.recent_segments_count);
  Napi::Object calls = addTable(env, result, "calls", callFields, copy.calls, copy.calls_count);
  if (!found.callers.empty()) {
    auto callers = Napi::Uint32Array::New(env, found.callers.size());
    std::copy(found.callers.begin(), found.callers.end(), callers.Data());
    calls.Set("caller", callers);
  }
  addTable(env, result, "timeline", timelineFields, copy.timeline, copy.timeline_count);
  addTable(env, result, "processors", processorFields, copy.processors, copy.processors_count);
}

} // namespace quartz
