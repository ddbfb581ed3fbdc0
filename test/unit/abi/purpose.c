/* The purposes of procedures and threads of known libraries, by names as they occur in profiles. */
#include <stdio.h>
#include "abi/purpose.h"
#include "test/support/check.h"

struct known {
  const char *name;
  uint32_t purposes;
};

#define COLLECTION QZ_PURPOSE_COLLECTION
#define TEAM       QZ_PURPOSE_TEAM_CALL
#define EXCLUSION  QZ_PURPOSE_EXCLUSION
#define WAKE       QZ_PURPOSE_WAIT_OR_WAKE
#define LOCK       QZ_PURPOSE_PTHREAD_LOCK
#define OF_LIBRARY QZ_PURPOSE_LIBRARY_LOCK
#define HAND_OVER  QZ_PURPOSE_HAND_OVER
#define START      QZ_PURPOSE_THREAD_START
#define ALLOCATOR  QZ_PURPOSE_ALLOCATOR
#define WRAPPER    QZ_PURPOSE_LOCK_WRAPPER
#define REQUESTS   QZ_PURPOSE_REQUESTS
#define READ       QZ_PURPOSE_READ
#define MAKING     QZ_PURPOSE_PROCESS_MAKING
#define BYTES      QZ_PURPOSE_SERIALIZATION

static const struct known procedures[] = {
  {"", 0},
  {"main", 0},
  {"compute", 0},
  {"GOMP_barrier", TEAM},
  {"GOMP_ordered_start", TEAM | QZ_PURPOSE_ORDER},
  {"__kmpc_end_ordered", TEAM | QZ_PURPOSE_ORDER},
  {"my_GOMP_ordered_start", 0},
  {"GOMP_critical_start", TEAM | EXCLUSION},
  {"GOMP_critical_start at solve.c:17", TEAM | EXCLUSION},
  {"omp_set_lock", TEAM | EXCLUSION | WRAPPER},
  {"omp_unset_nest_lock", TEAM | EXCLUSION | WRAPPER},
  {"__kmpc_fork_call", TEAM},
  {"my_GOMP_barrier", 0},
  {"tbb::detail::r1::spawn", TEAM | QZ_PURPOSE_TBB_CODE},
  {"tbb::detail::d1::start_for<Body>::execute", QZ_PURPOSE_TBB_CODE},
  {"tbb::detail::d1::start_for<tbb::detail::d2::concurrent_vector<int>>::execute", QZ_PURPOSE_TBB_CODE},
  {"tbb::detail::d2::concurrent_hash_map<int, long>::bucket_accessor::bucket_accessor", 0},
  {"tbb::detail::d1::spin_rw_mutex::upgrade", 0},
  {"tbb::detail::d0::atomic_backoff::pause", EXCLUSION},

  {"runtime.gcBgMarkWorker.func2", COLLECTION | OF_LIBRARY},
  {"v8::internal::Heap::CollectGarbage", COLLECTION},
  {"v8::internal::ScavengerCollector::CollectGarbage", COLLECTION},
  {"v8::internal::Scaveng", 0},
  {"gc_collect_main", COLLECTION},
  {"gc_collect_mainly", 0},
  {"gc_sweep_step", COLLECTION},
  {"caml_major_collection_slice", COLLECTION},
  {"WKS::gc_heap::mark_phase", COLLECTION},
  {"GC_try_to_collect_inner", COLLECTION},
  {"PSScavenge::invoke", COLLECTION},
  {"PSParallelCompact::invoke_no_policy", COLLECTION},
  {"G1CollectedHeap::do_collection_pause", COLLECTION},
  {"G1CollectedHeap::allocate", 0},
  {"ParMark", 0},
  {"Zebra::invoke", 0},
  {"MarkSweep::invoke", 0},

  {"pthread_cond_signal", WAKE},
  {"__lll_lock_wait", WAKE | LOCK | WRAPPER},
  {"lll_lock", WAKE | LOCK | WRAPPER},
  {"std::condition_variable::notify_one", WAKE},
  {"futex_wait", WAKE},
  {"sem_post", WAKE},
  {"pthread_mutex_lock", WAKE | LOCK | WRAPPER},
  {"__GI___pthread_mutex_unlock_usercnt", WAKE | LOCK | WRAPPER},
  {"___pthread_rwlock_rdlock", WAKE | LOCK | WRAPPER},
  {"pthread_create", WAKE | QZ_PURPOSE_THREAD_MAKING},

  {"runtime.lock2", OF_LIBRARY | WRAPPER},
  {"sync.(*Mutex).Lock", OF_LIBRARY},
  {"std::sys::sync::mutex::futex::Mutex::lock_contended", WAKE | OF_LIBRARY | WRAPPER},
  {"parking_lot::raw_mutex::RawMutex::unlock_slow", OF_LIBRARY},
  {"ObjectMonitor::enter", OF_LIBRARY | WRAPPER},
  {"absl::lts_20220623::Mutex::Lock", OF_LIBRARY | WRAPPER},
  {"folly::Mutex::Lock", WRAPPER},
  {"runtime.chansend1", OF_LIBRARY | HAND_OVER},
  {"runtime.ready", OF_LIBRARY | HAND_OVER},
  {"runtime.readyWithTime", OF_LIBRARY},
  {"runtime.schedule", OF_LIBRARY | HAND_OVER},
  {"threadentry", START},
  {"crosscall1", START},
  {"crosscall.other", 0},
  {"_cgo_sys_thread_start", START},
  {"std::thread::_M_start_thread", QZ_PURPOSE_THREAD_MAKING},
  {"__clone3", QZ_PURPOSE_THREAD_MAKING},

  {"malloc", ALLOCATOR},
  {"mallocate", 0},
  {"operator new(unsigned long)", ALLOCATOR},
  {"operator delete[]", ALLOCATOR},
  {"_Znwm", ALLOCATOR},
  {"__libc_calloc", ALLOCATOR},
  {"systrim.constprop.0", ALLOCATOR},
  {"je_arena_malloc", ALLOCATOR},
  {"mi_heap::alloc", 0},

  {"clock_nanosleep", QZ_PURPOSE_SLEEP},
  {"usleep", QZ_PURPOSE_SLEEP},
  {"asleep", 0},
  {"fcntl64", QZ_PURPOSE_FILE_LOCK},
  {"flock", QZ_PURPOSE_FILE_LOCK},
  {"flockfile", 0},
  {"v8::internal::ValueSerializer::WriteObject", BYTES | QZ_PURPOSE_CLONING},
  {"CompileBroker::compiler_thread_loop", QZ_PURPOSE_COMPILATION},
  {"CompileBrokers::compile", 0},
  {"runtime.mallocgc", QZ_PURPOSE_ALLOCATION | QZ_PURPOSE_LIBRARY_LOCK},
  {"runtime.bgsweep", QZ_PURPOSE_COLLECTION | QZ_PURPOSE_LIBRARY_LOCK},
  {"VMThread::run", QZ_PURPOSE_HOUSEKEEPING},
  {"CompileQueue::get", QZ_PURPOSE_HOUSEKEEPING},
  {"CompileQueue::add", 0},
  {"runtime.sysmon", QZ_PURPOSE_HOUSEKEEPING | QZ_PURPOSE_LIBRARY_LOCK},
  {"fsync", QZ_PURPOSE_DEVICE},
  {"pwrite64", QZ_PURPOSE_DEVICE},
  {"preadv2", QZ_PURPOSE_DEVICE},
  {"sendfile64", QZ_PURPOSE_DEVICE},
  {"write_all", 0},
  {"waitpid", QZ_PURPOSE_CHILDREN},
  {"wait_all", 0},
  {"fork", MAKING},
  {"vfork", MAKING | QZ_PURPOSE_CHILDREN},
  {"posix_spawnp", MAKING | QZ_PURPOSE_CHILDREN},
  {"syscall.forkAndExecInChild1", MAKING | QZ_PURPOSE_CHILDREN},
  {"fork_join", 0},
  {"_Pickler_dump", BYTES},
  {"encoding/json.Unmarshal", BYTES},
  {"google::protobuf::MessageLite::SerializeToString", BYTES},
  {"marshal_dump", BYTES},
  {"save", 0},
  {"memcpy", QZ_PURPOSE_COPYING},
  {"__memmove_avx_unaligned_erms", QZ_PURPOSE_COPYING},
  {"memcpy_row", 0},
  {"std::_Hashtable<int>::_M_find_before_node(unsigned long)", QZ_PURPOSE_CHAINS},
  {"std::_Hashtable<int>::_M_rehash", 0},
  {"poll", REQUESTS | READ},
  {"epoll_pwait2", REQUESTS},
  {"runtime.epollwait", REQUESTS | QZ_PURPOSE_LIBRARY_LOCK},
  {"recvmmsg", REQUESTS | QZ_PURPOSE_RECEIVING},
  {"accept5", 0},
  {"fread", READ},
  {"sigtimedwait", QZ_PURPOSE_SIGNAL},

  {"lock", WRAPPER},
  {"Guard::scoped_rw_lock", WRAPPER},
  {"Guard::scoped_read_lock", WRAPPER},
  {"app::Queue<int>::lock(int)", WRAPPER},
  {"std::unique_lock<std::mutex>::unique_lock", WRAPPER},
  {"UniqueLock::UniqueLock", WRAPPER},
  {"spinlock_acquire", WRAPPER},
  {"SpinLock_slow", WRAPPER},
  {"blocks", 0},
  {"clock", 0},
  {"tryEnter<int", WRAPPER},
  {"monitor.entering", WRAPPER},
};

static const struct known threads[] = {
  {"GC Thread#1", COLLECTION},
  {"G1 Conc#0", COLLECTION},
  {"G1 Unknown", 0},
  {"ZWorker#2", COLLECTION},
  {"malloc", 0},
  {"", 0},
};

static void are(const struct known *list, size_t count, bool is_thread) {
  for (size_t k = 0; k < count; k++) {
    uint32_t is = qz_purposes_of(is_thread, list[k].name, "/home/me/program"),
             should = list[k].purposes | QZ_PURPOSE_DECIDED;
    if (is != should) fprintf(stderr, "%s: %#x, not %#x\n", list[k].name, is, should);
    CHECK(is == should);
  }
}

static void style_is(const char *name, enum qz_naming_style should) {
  enum qz_naming_style is = qz_naming_style_of(false, name, "/home/me/program");
  if (is != should) fprintf(stderr, "%s: style %d, not %d\n", name, (int)is, (int)should);
  CHECK(is == should);
}
static void styles(void) {
  style_is("main", QZ_NAMING_STYLE_OTHER);
  style_is("", QZ_NAMING_STYLE_OTHER);
  style_is("main.run", QZ_NAMING_STYLE_GO);
  style_is("main.run.func1", QZ_NAMING_STYLE_GO);
  style_is("syscall.Fdatasync", QZ_NAMING_STYLE_GO);
  style_is("syscall.Syscall6", QZ_NAMING_STYLE_GO_CALL);
  style_is("syscall.RawSyscall", QZ_NAMING_STYLE_GO_CALL);
  style_is("syscall.rawSyscallNoError", QZ_NAMING_STYLE_GO_CALL);
  style_is("internal/runtime/syscall.Syscall6", QZ_NAMING_STYLE_GO_CALL);
  style_is("runtime/internal/syscall.Syscall6", QZ_NAMING_STYLE_GO_CALL);
  style_is("golang.org/x/sys/unix.Syscall", QZ_NAMING_STYLE_GO_CALL);
  style_is("syscall.Syscall6.abi0", QZ_NAMING_STYLE_GO);
  style_is("my/syscall.Syscall6", QZ_NAMING_STYLE_GO);
  CHECK(qz_naming_style_of(true, "__kmp_launch_worker", "/usr/lib/llvm-14/lib/libomp.so.5") ==
        QZ_NAMING_STYLE_LLVM_TEAM);
  CHECK(qz_naming_style_of(true, "worker", "/opt/intel/lib/libiomp5.so") == QZ_NAMING_STYLE_LLVM_TEAM);
  CHECK(qz_naming_style_of(true, "gomp_thread_start", "/usr/lib/libgomp.so.1") == QZ_NAMING_STYLE_OTHER);
  CHECK(qz_naming_style_of(false, "__kmp_barrier", "/usr/lib/llvm-14/lib/libomp.so.5") == QZ_NAMING_STYLE_OTHER);
}

int main(void) {
  are(procedures, sizeof procedures / sizeof *procedures, false);
  are(threads, sizeof threads / sizeof *threads, true);
  CHECK(qz_purposes_of(false, "f", "/usr/lib/libtbb.so.12.8") == (QZ_PURPOSE_DECIDED | QZ_PURPOSE_TBB_LIBRARY));
  CHECK(qz_purposes_of(false, "f", "/usr/lib/libtbbmalloc.so.2") == QZ_PURPOSE_DECIDED);
  CHECK(qz_purposes_of(false, "save", "/usr/lib/python3.11/lib-dynload/_pickle.cpython-311-x86_64-linux-gnu.so") ==
        (QZ_PURPOSE_DECIDED | BYTES));
  styles();
  puts("ok");
  return 0;
}
