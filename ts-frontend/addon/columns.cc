/* Converts sections of a profile to columns: one typed array for each field, because a million JavaScript objects
 * would take too much time and memory. */
#include <algorithm>
#include <cstddef>
#include <cstring>
#include "column_fields.h"
#include "profile.h"
#include "row.h"

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

/* Rows of any section. */
struct Rows {
  const unsigned char *first;
  size_t bytes; /* size of a row */
  size_t count;
};

/* The table `name` of a section, with its rows in the given order if there is one. */
Napi::Object addRows(Napi::Env env, Napi::Object &result, const char *name, const Field *fields, size_t width,
                     const Rows &rows, const std::vector<uint32_t> &order) {
  std::vector<Column> columns;
  columns.reserve(width);
  for (size_t k = 0; k < width; k++) columns.emplace_back(env, fields[k], rows.count);
  constexpr size_t block = 128; /* rows that fit into a first-level cache while all columns are filled */
  std::vector<unsigned char> gathered(order.empty() ? 0 : block * rows.bytes);
  for (size_t k = 0; k < rows.count; k += block) {
    size_t some = std::min(block, rows.count - k);
    const unsigned char *from = rows.first + k * rows.bytes;
    if (!order.empty()) {
      for (size_t j = 0; j < some; j++) {
        __builtin_prefetch(rows.first + order[std::min(k + j + 16, rows.count - 1)] * rows.bytes);
        std::memcpy(gathered.data() + j * rows.bytes, rows.first + order[k + j] * rows.bytes, rows.bytes);
      }
      from = gathered.data();
    }
    for (Column &column : columns) column.fill(from, rows.bytes, some, k);
  }
  Napi::Object table = Napi::Object::New(env);
  for (Column &column : columns) table.Set(column.field.name, column.array);
  result.Set(name, table);
  return table;
}

template <typename Record, typename Fields>
Napi::Object addTable(Napi::Env env, Napi::Object &result, const char *name, const Fields &fields, const Record *rows,
                      size_t count, const std::vector<uint32_t> &order = {}) {
  return addRows(env, result, name, std::data(fields), std::size(fields),
                 {reinterpret_cast<const unsigned char *>(rows), sizeof(Record), count}, order);
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
    Row row(env);
    const char *name = place && entity.name == 0 ? place->name.c_str() : profile.text(entity.name);
    const char *module = entity.module ? profile.text(copy.modules[entity.module - 1].path) : "";
    qz_origin decided = static_cast<qz_origin>(entity.origin);
    row.number("kind", entity.kind);
    row.text("name", name);
    const char *file = place && entity.file == 0 ? place->file.c_str() : profile.text(entity.file);
    row.text("file", file);
    row.number("line", place && entity.file == 0 ? place->line : entity.line);
    row.number("address", entity.address);
    row.number("module", entity.module);
    row.number("record", entity.record);
    row.text("detail", place && entity.detail == 0 ? place->detail.c_str() : profile.text(entity.detail));
    row.number("instances", entity.instances);
    row.number("origin", decided != QZ_ORIGIN_UNKNOWN ? decided : qz_origin_of(name, module, file));
    row.number("purposes", entity.purposes && !(place && entity.name == 0)
                             ? entity.purposes
                             : qz_purposes_of(entity.kind == QZ_ENTITY_THREAD, name, module));
    row.number("style", qz_naming_style_of(entity.kind == QZ_ENTITY_THREAD, name, module));
    row.number("libraryWait", entity.library_wait);
    row.number("libraryLock", qz_library_lock_of(name));
    row.number("naming", place && entity.name == 0 ? uint32_t{place->naming} : entity.naming);
    row.number("missing", place && entity.detail == 0 ? uint32_t{place->missing} : entity.missing);
    out.Set(k - from, row.made());
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
    Row row(env);
    row.number("entity", stats.entity);
    row.number("creator", stats.creator);
    row.number("serial", stats.serial);
    row.number("firstNs", stats.first_ns);
    row.number("lastNs", stats.last_ns);
    row.number("sleeps", stats.sleeps);
    row.number("intervalUs", stats.interval_us);
    row.number("intervalUs2", stats.interval_us2);
    row.number("lengthUs", stats.length_us);
    row.number("lengthUs2", stats.length_us2);
    threads.Set(k, row.made());
  }
  result.Set("threads", threads);
  Napi::Array answers = Napi::Array::New(env, copy.what_if_count);
  for (uint32_t k = 0; k < copy.what_if_count; k++) {
    const qz_what_if_answer &answer = copy.what_if[k];
    Row row(env);
    row.number("kind", answer.kind);
    row.text("name", profile.text(answer.name));
    row.number("entity", answer.entity);
    row.flag("seen", (answer.flags & QZ_ANSWER_SEEN) != 0);
    row.flag("found", (answer.flags & QZ_ANSWER_FOUND) != 0);
    row.flag("missed", (answer.flags & QZ_ANSWER_MISSED) != 0);
    row.number("site", answer.site);
    row.number("sinceNs", answer.since_ns);
    row.number("factor", static_cast<double>(answer.factor) / QZ_WHAT_IF_ONE);
    row.number("spanNs", answer.span_ns);
    row.number("workNs", answer.work_ns);
    answers.Set(k, row.made());
  }
  result.Set("whatIf", answers);
  Napi::Array lines = Napi::Array::New(env, copy.lines_count);
  for (uint32_t k = 0; k < copy.lines_count; k++) {
    Napi::HandleScope scope(env);
    const qz_shared_line &line = copy.lines[k];
    Row row(env);
    Napi::Array by = Napi::Array::New(env);
    for (const qz_line_user &user : line.by) {
      if (user.samples == 0) continue;
      Row one(env);
      one.number("thread", user.thread);
      one.number("procedure", user.procedure);
      one.number("samples", user.samples);
      one.number("written", user.written);
      one.number("read", user.read);
      one.number("locked", user.locked);
      by.Set(by.Length(), one.made());
    }
    row.number("address", line.address);
    row.text("variable", profile.text(line.variable));
    row.number("samples", line.samples);
    row.number("turns", line.turns);
    row.value("by", by);
    lines.Set(k, row.made());
  }
  result.Set("sharedLines", lines);
  Napi::Array modules = Napi::Array::New(env, copy.modules_count);
  for (uint32_t k = 0; k < copy.modules_count; k++) {
    const qz_module &module = copy.modules[k];
    Row row(env);
    row.number("start", module.start);
    row.number("end", module.end);
    row.number("bias", module.bias);
    row.text("path", profile.text(module.path));
    row.text("buildId", profile.text(module.build_id));
    modules.Set(k, row.made());
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
