/* Where code comes from, and what a library's call waits for, by names as they occur on users' machines. */
#include <stdio.h>
#include "abi/origin.h"
#include "test/support/check.h"

static void module_is(const char *path, enum qz_origin origin) {
  enum qz_origin is = qz_origin_of_module(path);
  if (is != origin) fprintf(stderr, "%s: %d, not %d\n", path, (int)is, (int)origin);
  CHECK(is == origin);
}
static void defined_is(const char *name, const char *path, const char *file, enum qz_origin origin) {
  enum qz_origin is = qz_origin_of(name, path, file);
  if (is != origin) fprintf(stderr, "%s: %d, not %d\n", name, (int)is, (int)origin);
  CHECK(is == origin);
}
static void procedure_is(const char *name, const char *path, enum qz_origin origin) {
  defined_is(name, path, "", origin);
}
static void waits(const char *called, enum qz_library_wait wait) {
  enum qz_library_wait is = qz_library_wait_of(called);
  if (is != wait) fprintf(stderr, "%s: %d, not %d\n", called, (int)is, (int)wait);
  CHECK(is == wait);
}

static void modules(void) {
  module_is("/usr/lib/x86_64-linux-gnu/libc.so.6", QZ_ORIGIN_RUNTIME);
  module_is("/lib64/libc-2.31.so", QZ_ORIGIN_RUNTIME);
  module_is("/lib/x86_64-linux-gnu/ld-2.31.so", QZ_ORIGIN_RUNTIME);
  module_is("/lib64/ld-linux-x86-64.so.2", QZ_ORIGIN_RUNTIME);
  module_is("/lib/ld-musl-x86_64.so.1", QZ_ORIGIN_RUNTIME);
  module_is("/usr/lib/libstdc++.so.6.0.30", QZ_ORIGIN_RUNTIME);
  module_is("/home/me/gcc/lib/libgfortran.so.5", QZ_ORIGIN_RUNTIME);
  module_is("/work/build/libquartz-pthread.so", QZ_ORIGIN_RUNTIME);
  module_is("/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0", QZ_ORIGIN_OPENMP);
  module_is("/usr/lib/llvm-14/lib/libomp.so.5", QZ_ORIGIN_OPENMP);
  module_is("/opt/intel/libiomp5.so", QZ_ORIGIN_OPENMP);
  module_is("/usr/lib/libcrypto.so.3", QZ_ORIGIN_INSTALLED);
  module_is("/usr/local/lib/libtbb.so.12.8", QZ_ORIGIN_OPENMP);
  module_is("/usr/lib/libtbbmalloc.so.2", QZ_ORIGIN_INSTALLED);
  module_is("/home/me/libcurious.so", QZ_ORIGIN_OWN);
  module_is("/home/me/libc.solid/program", QZ_ORIGIN_OWN);
  module_is("/home/me/program", QZ_ORIGIN_OWN);
  module_is("/usr/lib/firefox/firefox", QZ_ORIGIN_OWN);
  module_is("", QZ_ORIGIN_OWN);
}

static void procedures(void) {
  procedure_is("vfprintf", "/lib/libc.so.6", QZ_ORIGIN_RUNTIME);
  procedure_is("std::ostream::flush", "/usr/lib/libstdc++.so.6", QZ_ORIGIN_RUNTIME);
  procedure_is("std::vector<int>::push_back", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("std::vector<int>::push_back", "/usr/lib/libcurl.so.4", QZ_ORIGIN_STANDARD);
  procedure_is("__gnu_cxx::new_allocator<int>::allocate", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("core::ops::function::FnOnce::call_once", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once", "/home/me/program",
               QZ_ORIGIN_STANDARD);
  procedure_is("__pthread_once_slow", "/home/me/static", QZ_ORIGIN_STANDARD);
  procedure_is("<program::Worker as program::Job>::run", "/home/me/program", QZ_ORIGIN_OWN);
  procedure_is("std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run",
               "/home/me/program", QZ_ORIGIN_OWN);
  procedure_is("standard::run", "/home/me/program", QZ_ORIGIN_OWN);
  procedure_is("tbb::detail::r1::spawn", "/usr/lib/libtbb.so.12", QZ_ORIGIN_OPENMP);
  procedure_is("tbb::detail::d1::start_for<Body>::execute", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("runtime.mapassign_fast64", "/home/me/program", QZ_ORIGIN_RUNTIME);
  procedure_is("sync.(*Mutex).lockSlow", "/home/me/program", QZ_ORIGIN_RUNTIME);
  procedure_is("main.(*cache).look", "/home/me/program", QZ_ORIGIN_OWN);
  procedure_is("runtime::start", "/home/me/program", QZ_ORIGIN_OWN);
  procedure_is("reflect.Value.call", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("encoding/json.(*decodeState).object", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("syscall.RawSyscall6", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("sortable.Sort", "/home/me/program", QZ_ORIGIN_OWN);
  procedure_is("sort.part.0", "/home/me/program", QZ_ORIGIN_OWN);
  procedure_is("hash.constprop.1", "/home/me/program", QZ_ORIGIN_OWN);
  procedure_is("github.com/me/net.Dial", "/home/me/program", QZ_ORIGIN_OWN);
  procedure_is("", "", QZ_ORIGIN_OWN);
  procedure_is("hashbrown::raw::RawTable<T,A>::reserve_rehash", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("hashbrown::map::HashMap<K,V,S,A>::insert", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("<hashbrown::map::HashMap<K,V> as core::iter::traits::collect::Extend<(K,V)>>::extend",
               "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("alloc::vec::Vec<T,A>::push", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("parking_lot::raw_mutex::RawMutex::lock_slow", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("<T as core::convert::Into<U>>::into", "/home/me/program", QZ_ORIGIN_STANDARD);
  procedure_is("<&mut I as core::iter::traits::iterator::Iterator>::next", "/home/me/program", QZ_ORIGIN_STANDARD);
  /* A trait of the library that a type of the program has is the program's code; so is a name space called alike. */
  procedure_is("<program::Worker as core::iter::traits::iterator::Iterator>::next", "/home/me/program", QZ_ORIGIN_OWN);
  procedure_is("<program::main::{closure#0} as core::ops::function::FnOnce<()>>::call_once", "/home/me/program",
               QZ_ORIGIN_STANDARD);
  defined_is("core::Engine::run", "/home/me/program", "/home/me/engine.cpp", QZ_ORIGIN_OWN);
  defined_is("core::slice::sort::merge", "/home/me/program", "/rustc/1/library/core/src/slice/sort.rs",
             QZ_ORIGIN_STANDARD);
}

/* What headers of installed libraries define. */
static void headers(void) {
  defined_is("boost::mutex::lock", "/home/me/program", "/usr/include/boost/thread/pthread/mutex.hpp",
             QZ_ORIGIN_STANDARD);
  defined_is("Eigen::internal::gebp", "/home/me/program", "/usr/local/include/eigen3/Eigen/x.h", QZ_ORIGIN_STANDARD);
  defined_is("boost::mutex::lock", "/home/me/program", "/home/me/boost/mutex.hpp", QZ_ORIGIN_OWN);
  defined_is("sort.Sort", "/home/me/program", "/usr/lib/go-1.19/src/sort/sort.go", QZ_ORIGIN_STANDARD);
  defined_is("main", "/home/me/program", "/home/me/main.c", QZ_ORIGIN_OWN);
  CHECK(qz_is_library_source("/opt/gcc/include/c++/12/bits/stl_vector.h"));
  CHECK(!qz_is_library_source("/home/me/include/c.h") && !qz_is_library_source(""));
}

static void library_waits(void) {
  static const char *const locks[] = {"GOMP_critical_name_start",
                                      "__kmpc_critical_with_hint",
                                      "omp_set_lock",
                                      "omp_set_nest_lock",
                                      "GOMP_atomic_start",
                                      "std::sys::sync::mutex::futex::Mutex::lock_contended",
                                      "std::sys::sync::rwlock::futex::RwLock::read_contended",
                                      "malloc",
                                      "operator new",
                                      "fprintf",
                                      "_IO_vfprintf",
                                      "__fgets",
                                      "fflush"};
  static const char *const barriers[] = {
    "GOMP_barrier",  "__kmpc_barrier",           "std::sync::barrier::Barrier::wait", "std::latch::wait",
    "GOMP_loop_end", "GOMP_sections_end_cancel", "std::barrier::arrive_and_wait"};
  static const char *const ends[] = {"GOMP_parallel", "GOMP_parallel_loop_dynamic", "__kmpc_fork_call"};
  static const char *const data[] = {"std::sync::mpmc::array::Channel<u32>::send",
                                     "std::sys::sync::condvar::futex::Condvar::wait",
                                     "std::counting_semaphore::acquire",
                                     "std::atomic<int>::wait",
                                     "std::atomic_flag::wait",
                                     "crossbeam::Receiver::recv",
                                     "sem_wait",
                                     "pthread_cond_timedwait"};
  static const char *const tasks[] = {"GOMP_taskwait", "GOMP_taskgroup_end", "GOMP_taskloop_ull", "__kmpc_omp_taskwait",
                                      "__kmpc_end_taskgroup"};
  static const char *const none[] = {"futex",    "lock_flag", "std::future<int>::get", "freeze", "mallocate",
                                     "recvfrom", ""};
  for (size_t k = 0; k < sizeof locks / sizeof *locks; k++) waits(locks[k], QZ_LIBRARY_WAIT_LOCK);
  for (size_t k = 0; k < sizeof barriers / sizeof *barriers; k++) waits(barriers[k], QZ_LIBRARY_WAIT_BARRIER);
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) waits(ends[k], QZ_LIBRARY_WAIT_REGION_END);
  for (size_t k = 0; k < sizeof data / sizeof *data; k++) waits(data[k], QZ_LIBRARY_WAIT_DATA);
  for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++) waits(tasks[k], QZ_LIBRARY_WAIT_TASKS);
  for (size_t k = 0; k < sizeof none / sizeof *none; k++) waits(none[k], QZ_LIBRARY_WAIT_UNKNOWN);
}

static void library_locks(void) {
  CHECK(qz_library_lock_of("rand") == QZ_LIBRARY_LOCK_RANDOM && qz_library_lock_of("random") == QZ_LIBRARY_LOCK_RANDOM);
  CHECK(qz_library_lock_of("rand at dice.c:7") == QZ_LIBRARY_LOCK_RANDOM); /* an object that is named after the call */
  CHECK(qz_library_lock_of("rand_r") == QZ_LIBRARY_LOCK_NONE &&
        qz_library_lock_of("randomize") == QZ_LIBRARY_LOCK_NONE);
  CHECK(qz_library_lock_of("fprintf") == QZ_LIBRARY_LOCK_STREAM &&
        qz_library_lock_of("snprintf") == QZ_LIBRARY_LOCK_NONE);
  CHECK(qz_library_lock_of("localtime_r") == QZ_LIBRARY_LOCK_TIME &&
        qz_library_lock_of("time") == QZ_LIBRARY_LOCK_NONE);
  CHECK(qz_library_lock_of("dl_iterate_phdr") == QZ_LIBRARY_LOCK_LOADER);
  CHECK(qz_library_lock_of("malloc") == QZ_LIBRARY_LOCK_NONE && qz_library_lock_of("") == QZ_LIBRARY_LOCK_NONE);
  waits("rand", QZ_LIBRARY_WAIT_LOCK);
  waits("mktime", QZ_LIBRARY_WAIT_LOCK);
}

int main(void) {
  modules();
  procedures();
  headers();
  library_waits();
  library_locks();
  CHECK(qz_origin_of_generated("java.util.HashMap.get", "") == QZ_ORIGIN_RUNTIME);
  CHECK(qz_origin_of_generated("Interpreter", "") == QZ_ORIGIN_RUNTIME);
  CHECK(qz_origin_of_generated("Interpreter.run", "") == QZ_ORIGIN_OWN);
  CHECK(qz_origin_of_generated("javax", "/srv/a.js") == QZ_ORIGIN_OWN);
  CHECK(qz_origin_of_generated("processTimers", "node:internal/timers") == QZ_ORIGIN_RUNTIME);
  CHECK(qz_origin_of_generated("generated code", "") == QZ_ORIGIN_OWN);
  return 0;
}
