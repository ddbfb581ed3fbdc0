/* The purposes of a name: the rules of the lists (purpose_names.c), and forms of names that no list can express. See
 * purpose.h. */
#include "purpose.h"
#include "purpose_names.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include "mpi_call.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool is_of_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *end_of_word(const char *text) {
  while (is_of_word(*text)) text++;
  return text;
}

static bool applies(const struct qzi_purpose_rule *rule, const char *name) {
  size_t length = strlen(rule->text);
  switch (rule->where) {
  case QZI_WHOLE: return !strcmp(name, rule->text);
  case QZI_START: return !strncmp(name, rule->text, length);
  case QZI_START_OF_WORD: return !strncmp(name, rule->text, length) && !*end_of_word(name + length);
  case QZI_START_OF_LONGER: return !strncmp(name, rule->text, length) && name[length] && !*end_of_word(name + length);
  case QZI_ANYWHERE: return strstr(name, rule->text) != NULL;
  }
  return false;
}

/* HotSpot's, of whichever collector: "PSParallelCompact::invoke", "G1CollectedHeap::do_collection_pause". */
static bool is_of_hotspot(const char *name) {
  static const char *const collectors[] = {"PS", "Par", "G1", "Gen", "Serial", "Shenandoah", "Z"};
  static const char *const parts[] = {"Mark", "Scavenge", "CollectedHeap", "Compact"};
  static const char *const actions[] = {"invoke", "do_", "collect"};
  const char *end = end_of_word(name);
  bool is_action = false;
  for (size_t k = 0; k < COUNT(actions); k++)
    is_action |= !strncmp(end, "::", 2) && !strncmp(end + 2, actions[k], strlen(actions[k]));
  for (size_t k = 0; is_action && k < COUNT(collectors); k++) {
    if (strncmp(name, collectors[k], strlen(collectors[k]))) continue;
    for (size_t part = 0; part < COUNT(parts); part++) {
      const char *at = strstr(name + strlen(collectors[k]), parts[part]);
      if (at && at + strlen(parts[part]) <= end) return true;
    }
  }
  return false;
}

/* V8's: "v8::internal::ScavengerCollector::CollectGarbage". */
static bool is_scavenger(const char *name) {
  static const char start[] = "v8::internal::Scaveng";
  return !strncmp(name, start, sizeof start - 1) && !strncmp(end_of_word(name + sizeof start - 1), "::", 2);
}

/* The C library's, under their inner names as well: "__GI___pthread_mutex_lock". */
static bool is_pthread_lock(const char *name) {
  static const char *const kinds[] = {"pthread_mutex_", "pthread_rwlock_", "pthread_spin_"};
  if (!strncmp(name, "__GI_", 5)) name += 5;
  while (*name == '_') name++;
  for (size_t k = 0; k < COUNT(kinds); k++)
    if (!strncmp(name, kinds[k], strlen(kinds[k]))) return true;
  return false;
}

static bool is_of_abseil(const char *name) {
  const char *absl = strstr(name, "absl");
  return absl && strstr(absl, "::Mutex::");
}

/* Behind one of these words, whatever their case; the text itself where it begins with none, or `k` is behind them. */
static const char *behind(const char *text, const char *const *words, size_t count, size_t k) {
  if (k == count) return text;
  return strncasecmp(text, words[k], strlen(words[k])) ? NULL : text + strlen(words[k]);
}

/* "scoped_rw_lock", "unique_lock", "enter", ...: that and no more is in the word. */
static bool says_lock(const char *text) {
  static const char *const owners[] = {"scoped", "unique", "guard", "auto"};
  static const char *const ways[] = {"spin", "read", "write", "rd", "wr", "shared", "try"};
  static const char *const locks[] = {"lock", "mutex", "acquire", "enter"};
  for (size_t owner = 0; owner <= COUNT(owners); owner++) {
    const char *at = behind(text, owners, COUNT(owners), owner);
    for (unsigned first = 0; at && first < 2; first++) {
      if (first && *at++ != '_') break;
      for (size_t way = 0; way <= COUNT(ways); way++) {
        const char *rest = behind(at, ways, COUNT(ways), way);
        if (rest && *rest == '_') rest++;
        for (size_t lock = 0; rest && lock < COUNT(locks); lock++) {
          const char *end = behind(rest, locks, COUNT(locks), lock);
          if (end && (!*end_of_word(end) || *end_of_word(end) == '<')) return true;
        }
      }
    }
  }
  return false;
}

/* Of the last part of a name, without template arguments and parameters: "app::Queue<int>::lock(int)". */
static bool is_lock_wrapper(const char *name) {
  char plain[256];
  const char *open = strchr(name, '<'), *close = strrchr(name, '>');
  size_t length = 0;
  for (const char *at = name; *at && length < sizeof plain - 1; at++) {
    if (at == open && close > open) at = close + 1;
    if (!*at || *at == '(') break;
    plain[length++] = *at;
  }
  plain[length] = 0;
  for (size_t k = 0; k < length; k++)
    if ((!k || strchr(":_.", plain[k - 1])) && says_lock(plain + k)) return true;
  return false;
}

/* TBB's containers and locks, which programs use in their own work: they hand out none ("tbb::detail::d2::..."). */
static bool is_container_of_tbb(const char *name) {
  static const char space[] = "tbb::detail::";
  static const char *const parts[] = {"concurrent_",  "hash_map_",      "micro_queue", "enumerable_thread_specific",
                                      "spin_",        "queuing_",       "mutex",       "rw_mutex",
                                      "rw_scoped_",   "unique_scoped_", "scoped_lock", "atomic_backoff",
                                      "machine_pause"};
  if (strncmp(name, space, sizeof space - 1)) return false;
  const char *inner = end_of_word(name + sizeof space - 1);
  for (size_t k = 0; !strncmp(inner, "::", 2) && k < COUNT(parts); k++)
    if (!strncmp(inner + 2, parts[k], strlen(parts[k]))) return true;
  return false;
}

/* Modules that do nothing else: "_pickle.cpython-311-x86_64-linux-gnu.so". */
static bool is_serializer(const char *path) {
  static const char *const files[] = {"/_pickle.",          "/_json.",     "/_msgpack",    "/libprotobuf.",
                                      "/libprotobuf-lite.", "/libjson-c.", "/libjansson.", "/libyajl."};
  for (size_t k = 0; k < COUNT(files); k++)
    if (strstr(path, files[k])) return true;
  return false;
}

uint32_t qz_purposes_of(bool is_thread, const char *name, const char *path) {
  uint32_t purposes = QZ_PURPOSE_DECIDED;
  const struct qzi_purpose_rule *rule = is_thread ? qzi_purposes_of_threads : qzi_purposes_of_procedures;
  for (; rule->text; rule++)
    if (applies(rule, name)) purposes |= rule->purposes;
  if (is_thread) return purposes;
  if (is_of_hotspot(name) || is_scavenger(name)) purposes |= QZ_PURPOSE_COLLECTION;
  if (is_pthread_lock(name)) purposes |= QZ_PURPOSE_PTHREAD_LOCK;
  if (is_of_abseil(name)) purposes |= QZ_PURPOSE_LIBRARY_LOCK;
  if (is_lock_wrapper(name)) purposes |= QZ_PURPOSE_LOCK_WRAPPER;
  if (is_container_of_tbb(name)) purposes &= ~QZ_PURPOSE_TBB_CODE;
  if (strstr(path, "/libtbb.so")) purposes |= QZ_PURPOSE_TBB_LIBRARY;
  if (qz_mpi_call_of(name) == QZ_MPI_START) purposes |= QZ_PURPOSE_MPI_START;
  if (is_serializer(path)) purposes |= QZ_PURPOSE_SERIALIZATION;
  return purposes;
}

/* "syscall.RawSyscall6", "golang.org/x/sys/unix.Syscall", "internal/runtime/syscall.Syscall6" */
static bool is_any_call_of_go(const char *name) {
  static const char *const packages[] = {"syscall.", "internal/runtime/syscall.", "runtime/internal/syscall.",
                                         "golang.org/x/sys/unix."};
  for (size_t k = 0; k < COUNT(packages); k++) {
    size_t length = strlen(packages[k]);
    if (strncmp(name, packages[k], length)) continue;
    const char *call = name + length;
    if (!strncmp(call, "Raw", 3) || !strncmp(call, "raw", 3)) call += 3;
    return !strncmp(call, "Syscall", 7) && !*end_of_word(call);
  }
  return false;
}

enum qz_naming_style qz_naming_style_of(bool is_thread, const char *name, const char *path) {
  if (is_thread)
    return strstr(path, "/libomp.so") || strstr(path, "/libiomp5.so") ? QZ_NAMING_STYLE_LLVM_TEAM
                                                                      : QZ_NAMING_STYLE_OTHER;
  if (is_any_call_of_go(name)) return QZ_NAMING_STYLE_GO_CALL;
  return strchr(name, '.') ? QZ_NAMING_STYLE_GO : QZ_NAMING_STYLE_OTHER;
}
