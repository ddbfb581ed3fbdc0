/* Lists of names. See purpose.h. */
#include "purpose.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

enum where { WHOLE, START, START_OF_WORD, START_OF_LONGER, ANYWHERE };
struct rule {
  enum where where; /* START_OF_WORD: only letters, digits and `_` follow the text; OF_LONGER: at least one does */
  const char *text;
  uint32_t purposes;
};

static bool is_of_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *end_of_word(const char *text) {
  while (is_of_word(*text)) text++;
  return text;
}

static bool applies(const struct rule *rule, const char *name) {
  size_t length = strlen(rule->text);
  switch (rule->where) {
  case WHOLE: return !strcmp(name, rule->text);
  case START: return !strncmp(name, rule->text, length);
  case START_OF_WORD: return !strncmp(name, rule->text, length) && !*end_of_word(name + length);
  case START_OF_LONGER: return !strncmp(name, rule->text, length) && name[length] && !*end_of_word(name + length);
  case ANYWHERE: return strstr(name, rule->text) != NULL;
  }
  return false;
}

/* HotSpot's, as the kernel cuts their names. */
static const struct rule threads[] = {
  {START, "GC Thread", QZ_PURPOSE_COLLECTION},     {START, "ParGC Thread", QZ_PURPOSE_COLLECTION},
  {START, "G1 Conc", QZ_PURPOSE_COLLECTION},       {START, "G1 Main", QZ_PURPOSE_COLLECTION},
  {START, "G1 Refine", QZ_PURPOSE_COLLECTION},     {START, "G1 Service", QZ_PURPOSE_COLLECTION},
  {START, "G1 Young", QZ_PURPOSE_COLLECTION},      {START, "ZWorker", QZ_PURPOSE_COLLECTION},
  {START, "ZDriver", QZ_PURPOSE_COLLECTION},       {START, "ConcGC", QZ_PURPOSE_COLLECTION},
  {START, "Shenandoah GC", QZ_PURPOSE_COLLECTION}, {START, "C1 Compiler", QZ_PURPOSE_COMPILATION},
  {START, "C2 Compiler", QZ_PURPOSE_COMPILATION},  {WHOLE, "Common-Cleaner", QZ_PURPOSE_HOUSEKEEPING},
  {WHOLE, "Finalizer", QZ_PURPOSE_HOUSEKEEPING},   {START, "Reference Handl", QZ_PURPOSE_HOUSEKEEPING},
};

static const struct rule procedures[] = {
  {START, "GOMP_", QZ_PURPOSE_TEAM_CALL},
  {START, "GOACC_", QZ_PURPOSE_TEAM_CALL},
  {START, "omp_", QZ_PURPOSE_TEAM_CALL},
  {START, "__kmpc_", QZ_PURPOSE_TEAM_CALL},
  {START, "__tgt_", QZ_PURPOSE_TEAM_CALL},
  {START, "tbb::detail::r1::", QZ_PURPOSE_TEAM_CALL},
  {START, "tbb::detail::", QZ_PURPOSE_TBB_CODE},
  {START, "GOMP_ordered", QZ_PURPOSE_ORDER},
  {START, "__kmpc_ordered", QZ_PURPOSE_ORDER},
  {START, "__kmpc_end_ordered", QZ_PURPOSE_ORDER},
  {ANYWHERE, "critical", QZ_PURPOSE_EXCLUSION},
  {ANYWHERE, "atomic_", QZ_PURPOSE_EXCLUSION},
  {ANYWHERE, "_set_lock", QZ_PURPOSE_EXCLUSION},
  {ANYWHERE, "_unset_lock", QZ_PURPOSE_EXCLUSION},
  {ANYWHERE, "_set_nest_lock", QZ_PURPOSE_EXCLUSION},
  {ANYWHERE, "_unset_nest_lock", QZ_PURPOSE_EXCLUSION},

  /* Go's, V8's, CPython's, Ruby's, OCaml's, .NET's, Boehm's; HotSpot's: is_of_hotspot */
  {START, "runtime.gcBgMarkWorker", QZ_PURPOSE_COLLECTION},
  {START, "runtime.gcDrain", QZ_PURPOSE_COLLECTION},
  {START, "runtime.gcAssistAlloc", QZ_PURPOSE_COLLECTION},
  {START, "runtime.gcStart", QZ_PURPOSE_COLLECTION},
  {START, "runtime.bgsweep", QZ_PURPOSE_COLLECTION},
  {START, "runtime.bgscavenge", QZ_PURPOSE_COLLECTION},
  {START, "runtime.sweepone", QZ_PURPOSE_COLLECTION},
  {START, "v8::internal::Heap::CollectGarbage", QZ_PURPOSE_COLLECTION},
  {START, "v8::internal::Heap::PerformGarbageCollection", QZ_PURPOSE_COLLECTION},
  {START, "v8::internal::MarkCompactCollector::", QZ_PURPOSE_COLLECTION},
  {WHOLE, "gc_collect_main", QZ_PURPOSE_COLLECTION},
  {WHOLE, "garbage_collect", QZ_PURPOSE_COLLECTION},
  {START, "gc_marks", QZ_PURPOSE_COLLECTION},
  {START, "gc_sweep", QZ_PURPOSE_COLLECTION},
  {START, "caml_major_collection", QZ_PURPOSE_COLLECTION},
  {START, "caml_empty_minor_heap", QZ_PURPOSE_COLLECTION},
  {START, "SVR::gc_heap::", QZ_PURPOSE_COLLECTION},
  {START, "WKS::gc_heap::", QZ_PURPOSE_COLLECTION},
  {START, "GC_try_to_collect", QZ_PURPOSE_COLLECTION},
  {START, "GC_collect_a_little", QZ_PURPOSE_COLLECTION},

  /* Go's, HotSpot's, V8's, OCaml's, Boehm's, .NET's */
  {START, "runtime.mallocgc", QZ_PURPOSE_ALLOCATION},
  {START, "MemAllocator::allocate", QZ_PURPOSE_ALLOCATION},
  {START, "v8::internal::Heap::AllocateRaw", QZ_PURPOSE_ALLOCATION},
  {START, "caml_alloc", QZ_PURPOSE_ALLOCATION},
  {START, "GC_malloc", QZ_PURPOSE_ALLOCATION},
  {START_OF_WORD, "JIT_New", QZ_PURPOSE_ALLOCATION},

  {ANYWHERE, "pthread_", QZ_PURPOSE_WAIT_OR_WAKE},
  {ANYWHERE, "lll_", QZ_PURPOSE_WAIT_OR_WAKE},
  {ANYWHERE, "futex", QZ_PURPOSE_WAIT_OR_WAKE},
  {ANYWHERE, "sem_post", QZ_PURPOSE_WAIT_OR_WAKE},
  {ANYWHERE, "sem_wait", QZ_PURPOSE_WAIT_OR_WAKE},
  {ANYWHERE, "notify_one", QZ_PURPOSE_WAIT_OR_WAKE},
  {ANYWHERE, "notify_all", QZ_PURPOSE_WAIT_OR_WAKE},
  {ANYWHERE, "condition_variable", QZ_PURPOSE_WAIT_OR_WAKE},

  /* as sampler/waits/lock_code.c knows them by linkage names */
  {START, "runtime.", QZ_PURPOSE_LIBRARY_LOCK},
  {START, "sync.", QZ_PURPOSE_LIBRARY_LOCK},
  {ANYWHERE, "lock_contended", QZ_PURPOSE_LIBRARY_LOCK},
  {ANYWHERE, "lock_slow", QZ_PURPOSE_LIBRARY_LOCK},
  {ANYWHERE, "ObjectMonitor", QZ_PURPOSE_LIBRARY_LOCK},
  {ANYWHERE, "ObjectSynchronizer", QZ_PURPOSE_LIBRARY_LOCK},

  {START, "runtime.chansend", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.chanrecv", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.closechan", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.selectgo", QZ_PURPOSE_HAND_OVER},
  {WHOLE, "runtime.send", QZ_PURPOSE_HAND_OVER},
  {WHOLE, "runtime.recv", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.gopark", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.goready", QZ_PURPOSE_HAND_OVER},
  {WHOLE, "runtime.ready", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.park_m", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.gosched", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.schedule", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.findRunnable", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.wakep", QZ_PURPOSE_HAND_OVER},
  {START, "runtime.stopm", QZ_PURPOSE_HAND_OVER},
  {ANYWHERE, "pthread_create", QZ_PURPOSE_THREAD_MAKING},
  {ANYWHERE, "pthread_join", QZ_PURPOSE_THREAD_MAKING},
  {ANYWHERE, "_M_start_thread", QZ_PURPOSE_THREAD_MAKING},
  {ANYWHERE, "thread::join", QZ_PURPOSE_THREAD_MAKING},
  {ANYWHERE, "clone", QZ_PURPOSE_THREAD_MAKING},
  {ANYWHERE, "start_thread", QZ_PURPOSE_THREAD_MAKING},
  {WHOLE, "threadentry", QZ_PURPOSE_THREAD_START},
  {START_OF_WORD, "crosscall", QZ_PURPOSE_THREAD_START},
  {START_OF_LONGER, "_cgo_", QZ_PURPOSE_THREAD_START},

  {START, "lll_", QZ_PURPOSE_PTHREAD_LOCK},
  {START, "__lll_", QZ_PURPOSE_PTHREAD_LOCK},

  /* C's, C++'s, inner ones of glibc, then mimalloc, jemalloc and tcmalloc */
  {WHOLE, "malloc", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "calloc", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "realloc", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "reallocarray", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "free", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "cfree", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "memalign", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "aligned_alloc", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "posix_memalign", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "malloc_trim", QZ_PURPOSE_ALLOCATOR},
  {START, "operator new", QZ_PURPOSE_ALLOCATOR},
  {START, "operator delete", QZ_PURPOSE_ALLOCATOR},
  {START, "_Znw", QZ_PURPOSE_ALLOCATOR},
  {START, "_Zna", QZ_PURPOSE_ALLOCATOR},
  {START, "_Zdl", QZ_PURPOSE_ALLOCATOR},
  {START, "_Zda", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "__libc_malloc", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "__libc_free", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "__libc_calloc", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "__libc_realloc", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "_int_malloc", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "_int_free", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "sysmalloc", QZ_PURPOSE_ALLOCATOR},
  {START, "systrim", QZ_PURPOSE_ALLOCATOR},
  {WHOLE, "heap_trim", QZ_PURPOSE_ALLOCATOR},
  {START_OF_LONGER, "mi_", QZ_PURPOSE_ALLOCATOR},
  {START_OF_LONGER, "je_", QZ_PURPOSE_ALLOCATOR},
  {START_OF_LONGER, "tc_", QZ_PURPOSE_ALLOCATOR},

  {ANYWHERE, "nanosleep", QZ_PURPOSE_SLEEP},
  {START, "sleep", QZ_PURPOSE_SLEEP},
  {START, "usleep", QZ_PURPOSE_SLEEP},
  {START, "thrd_sleep", QZ_PURPOSE_SLEEP},
  {WHOLE, "fsync", QZ_PURPOSE_DEVICE},
  {WHOLE, "fdatasync", QZ_PURPOSE_DEVICE},
  {WHOLE, "syncfs", QZ_PURPOSE_DEVICE},
  {WHOLE, "sync", QZ_PURPOSE_DEVICE},
  {WHOLE, "msync", QZ_PURPOSE_DEVICE},
  {WHOLE, "sync_file_range", QZ_PURPOSE_DEVICE},
  {WHOLE, "write", QZ_PURPOSE_DEVICE},
  {WHOLE, "write64", QZ_PURPOSE_DEVICE},
  {WHOLE, "writev", QZ_PURPOSE_DEVICE},
  {WHOLE, "writev64", QZ_PURPOSE_DEVICE},
  {WHOLE, "pwrite", QZ_PURPOSE_DEVICE},
  {WHOLE, "pwrite64", QZ_PURPOSE_DEVICE},
  {WHOLE, "pwritev", QZ_PURPOSE_DEVICE},
  {WHOLE, "pwritev64", QZ_PURPOSE_DEVICE},
  {WHOLE, "pwritev2", QZ_PURPOSE_DEVICE},
  {WHOLE, "preadv2", QZ_PURPOSE_DEVICE},
  {WHOLE, "pread", QZ_PURPOSE_DEVICE},
  {WHOLE, "pread64", QZ_PURPOSE_DEVICE},
  {WHOLE, "preadv", QZ_PURPOSE_DEVICE},
  {WHOLE, "preadv64", QZ_PURPOSE_DEVICE},
  {START_OF_WORD, "sendfile", QZ_PURPOSE_DEVICE},
  {START_OF_WORD, "copy_file", QZ_PURPOSE_DEVICE},
  {WHOLE, "fcntl", QZ_PURPOSE_FILE_LOCK},
  {WHOLE, "fcntl64", QZ_PURPOSE_FILE_LOCK},
  {WHOLE, "flock", QZ_PURPOSE_FILE_LOCK},
  {WHOLE, "lockf", QZ_PURPOSE_FILE_LOCK},
  {WHOLE, "lockf64", QZ_PURPOSE_FILE_LOCK},
  {WHOLE, "wait", QZ_PURPOSE_CHILDREN},
  {WHOLE, "wait3", QZ_PURPOSE_CHILDREN},
  {WHOLE, "wait4", QZ_PURPOSE_CHILDREN},
  {WHOLE, "waitid", QZ_PURPOSE_CHILDREN},
  {WHOLE, "waitpid", QZ_PURPOSE_CHILDREN},
  {WHOLE, "system", QZ_PURPOSE_CHILDREN},
  {WHOLE, "pclose", QZ_PURPOSE_CHILDREN},
  {WHOLE, "fork", QZ_PURPOSE_PROCESS_MAKING},
  {WHOLE, "_Fork", QZ_PURPOSE_PROCESS_MAKING},
  {WHOLE, "__fork", QZ_PURPOSE_PROCESS_MAKING},
  {WHOLE, "__libc_fork", QZ_PURPOSE_PROCESS_MAKING},
  {WHOLE, "forkpty", QZ_PURPOSE_PROCESS_MAKING},
  /* the caller goes on when the child executes its program, or ends */
  {WHOLE, "vfork", QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_CHILDREN},
  {WHOLE, "__vfork", QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_CHILDREN},
  {WHOLE, "__libc_vfork", QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_CHILDREN},
  {WHOLE, "posix_spawn", QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_CHILDREN},
  {WHOLE, "posix_spawnp", QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_CHILDREN},
  {WHOLE, "__spawni", QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_CHILDREN},
  {WHOLE, "popen", QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_CHILDREN},
  {START, "syscall.forkExec", QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_CHILDREN},
  {START, "syscall.forkAndExec", QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_CHILDREN},
  {START, "syscall.rawVfork", QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_CHILDREN},
  {WHOLE, "poll", QZ_PURPOSE_REQUESTS | QZ_PURPOSE_READ},
  {WHOLE, "ppoll", QZ_PURPOSE_REQUESTS | QZ_PURPOSE_READ},
  {WHOLE, "select", QZ_PURPOSE_REQUESTS | QZ_PURPOSE_READ},
  {WHOLE, "pselect", QZ_PURPOSE_REQUESTS | QZ_PURPOSE_READ},
  {WHOLE, "epoll_wait", QZ_PURPOSE_REQUESTS},
  {WHOLE, "epoll_wait2", QZ_PURPOSE_REQUESTS},
  {WHOLE, "epoll_pwait", QZ_PURPOSE_REQUESTS},
  {WHOLE, "epoll_pwait2", QZ_PURPOSE_REQUESTS},
  {WHOLE, "accept", QZ_PURPOSE_REQUESTS},
  {WHOLE, "accept4", QZ_PURPOSE_REQUESTS},
  {WHOLE, "recv", QZ_PURPOSE_REQUESTS},
  {WHOLE, "recvfrom", QZ_PURPOSE_REQUESTS},
  {WHOLE, "recvmsg", QZ_PURPOSE_REQUESTS},
  {WHOLE, "recvmmsg", QZ_PURPOSE_REQUESTS},
  {WHOLE, "read", QZ_PURPOSE_READ},
  {WHOLE, "readv", QZ_PURPOSE_READ},
  {WHOLE, "read64", QZ_PURPOSE_READ},
  {WHOLE, "fread", QZ_PURPOSE_READ},
  {WHOLE, "getline", QZ_PURPOSE_READ},
  {WHOLE, "fgets", QZ_PURPOSE_READ},
  {WHOLE, "sigwait", QZ_PURPOSE_SIGNAL},
  {WHOLE, "sigwaitinfo", QZ_PURPOSE_SIGNAL},
  {WHOLE, "sigtimedwait", QZ_PURPOSE_SIGNAL},
  {WHOLE, "sigsuspend", QZ_PURPOSE_SIGNAL},
  {WHOLE, "pause", QZ_PURPOSE_SIGNAL},

  /* CPython's, Ruby's, R's, PHP's, OCaml's, V8's, Go's, Rust's; libraries of C++ and C */
  {START, "_Pickler_", QZ_PURPOSE_SERIALIZATION},
  {START, "_Unpickler_", QZ_PURPOSE_SERIALIZATION},
  {START, "_pickle_", QZ_PURPOSE_SERIALIZATION},
  {START, "rb_marshal_", QZ_PURPOSE_SERIALIZATION},
  {START, "R_Serialize", QZ_PURPOSE_SERIALIZATION},
  {START, "R_Unserialize", QZ_PURPOSE_SERIALIZATION},
  {START, "php_var_serialize", QZ_PURPOSE_SERIALIZATION},
  {START, "php_var_unserialize", QZ_PURPOSE_SERIALIZATION},
  {START, "caml_output_val", QZ_PURPOSE_SERIALIZATION},
  {START, "caml_input_val", QZ_PURPOSE_SERIALIZATION},
  {START, "v8::internal::ValueSerializer::", QZ_PURPOSE_SERIALIZATION | QZ_PURPOSE_CLONING},
  {START, "v8::internal::ValueDeserializer::", QZ_PURPOSE_SERIALIZATION | QZ_PURPOSE_CLONING},
  {START, "v8::internal::JsonParser", QZ_PURPOSE_SERIALIZATION},
  {START, "v8::internal::JsonStringifier", QZ_PURPOSE_SERIALIZATION},
  {START, "encoding/json.", QZ_PURPOSE_SERIALIZATION},
  {START, "encoding/gob.", QZ_PURPOSE_SERIALIZATION},
  {START, "encoding/xml.", QZ_PURPOSE_SERIALIZATION},
  {START, "serde_json::", QZ_PURPOSE_SERIALIZATION},
  {START, "bincode::", QZ_PURPOSE_SERIALIZATION},
  {START, "google::protobuf::", QZ_PURPOSE_SERIALIZATION},
  {START, "rapidjson::", QZ_PURPOSE_SERIALIZATION},
  {START, "nlohmann::", QZ_PURPOSE_SERIALIZATION},
  {START, "simdjson::", QZ_PURPOSE_SERIALIZATION},
  {START, "boost::archive::", QZ_PURPOSE_SERIALIZATION},
  {START, "cereal::", QZ_PURPOSE_SERIALIZATION},
  {START, "msgpack", QZ_PURPOSE_SERIALIZATION},
  {START, "flatbuffers::", QZ_PURPOSE_SERIALIZATION},
  {START, "capnp::", QZ_PURPOSE_SERIALIZATION},
  {START, "apache::thrift::", QZ_PURPOSE_SERIALIZATION},
  {START, "cJSON_", QZ_PURPOSE_SERIALIZATION},
  {START, "json_object_to_json", QZ_PURPOSE_SERIALIZATION},
  {START, "json_tokener_", QZ_PURPOSE_SERIALIZATION},
  {START, "yajl_", QZ_PURPOSE_SERIALIZATION},
  /* HotSpot's, V8's, .NET's, PHP's; LLVM's of whichever program */
  {START, "CompileBroker::", QZ_PURPOSE_COMPILATION},
  {START, "v8::internal::OptimizedCompilationJob::", QZ_PURPOSE_COMPILATION},
  {START, "v8::internal::compiler::", QZ_PURPOSE_COMPILATION},
  {WHOLE, "jitNativeCode", QZ_PURPOSE_COMPILATION},
  {START, "zend_jit_trace", QZ_PURPOSE_COMPILATION},
  {START, "llvm::orc::", QZ_PURPOSE_COMPILATION},

  /* HotSpot's; Go's */
  {START, "CompileQueue::get", QZ_PURPOSE_HOUSEKEEPING},
  {START, "GangWorker::", QZ_PURPOSE_HOUSEKEEPING},
  {START, "AbstractGangWorker::", QZ_PURPOSE_HOUSEKEEPING},
  {START, "WorkerThread::run", QZ_PURPOSE_HOUSEKEEPING},
  {START, "ConcurrentGCThread::run", QZ_PURPOSE_HOUSEKEEPING},
  {START, "JVM_WaitForReferencePendingList", QZ_PURPOSE_HOUSEKEEPING},
  {START, "MonitorDeflationThread::", QZ_PURPOSE_HOUSEKEEPING},
  {START, "NMethodSweeper::", QZ_PURPOSE_HOUSEKEEPING},
  {START, "NotificationThread::", QZ_PURPOSE_HOUSEKEEPING},
  {START, "ServiceThread::", QZ_PURPOSE_HOUSEKEEPING},
  {START, "signal_thread_entry", QZ_PURPOSE_HOUSEKEEPING},
  {START, "VMThread::run", QZ_PURPOSE_HOUSEKEEPING},
  {START, "WatcherThread::", QZ_PURPOSE_HOUSEKEEPING},
  {START, "runtime.sysmon", QZ_PURPOSE_HOUSEKEEPING},

  {WHOLE, "marshal_dump", QZ_PURPOSE_SERIALIZATION},
  {WHOLE, "marshal_load", QZ_PURPOSE_SERIALIZATION},
};

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
  if (is_thread) {
    for (size_t k = 0; k < COUNT(threads); k++) purposes |= applies(&threads[k], name) ? threads[k].purposes : 0;
    return purposes;
  }
  for (size_t k = 0; k < COUNT(procedures); k++)
    if (applies(&procedures[k], name)) purposes |= procedures[k].purposes;
  if (is_of_hotspot(name) || is_scavenger(name)) purposes |= QZ_PURPOSE_COLLECTION;
  if (is_pthread_lock(name)) purposes |= QZ_PURPOSE_PTHREAD_LOCK;
  if (is_of_abseil(name)) purposes |= QZ_PURPOSE_LIBRARY_LOCK;
  if (is_lock_wrapper(name)) purposes |= QZ_PURPOSE_LOCK_WRAPPER;
  if (strstr(path, "/libtbb.so")) purposes |= QZ_PURPOSE_TBB_LIBRARY;
  if (is_serializer(path)) purposes |= QZ_PURPOSE_SERIALIZATION;
  return purposes;
}
