/* Quartz for C++17: a thin header-only layer over quartz.h. This file has futures, threads, fork-join and parallel
 * loops; the other synchronization objects are in sync.hpp. docs/reference/library.md is generated from these comments
 * (scripts/library-page.js).
 */
#ifndef QUARTZ_QUARTZ_HPP
#define QUARTZ_QUARTZ_HPP

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <quartz/quartz.h>
#include <quartz/sync.hpp>

namespace qz {

/* Inlined, so that the place that is recorded for an object is in the user's code. */
#define QZ_HERE __attribute__((always_inline)) inline

namespace detail {
template <class T> struct shared {
  qz_future done = QZ_FUTURE_INIT;
  std::conditional_t<std::is_void_v<T>, char, std::optional<std::conditional_t<std::is_void_v<T>, char, T>>> value{};
  std::exception_ptr error;
  /* Always inlined, so that the future's place is in the caller; inside std::make_shared it would be in the library. */
  QZ_HERE static std::shared_ptr<shared> make(const char *name) {
    auto state = std::make_shared<shared>();
    check(qz_future_init(&state->done, name), "qz::future");
    return state;
  }
  ~shared() { qz_future_destroy(&done); }
  template <class F> void run(F &function) {
    try {
      if constexpr (std::is_void_v<T>)
        function();
      else
        value.emplace(function());
    } catch (...) { error = std::current_exception(); }
    qz_future_set(&done, nullptr);
  }
};
} // namespace detail

/* # Threads, futures and parallel loops in C++
 *
 * `#include <quartz/quartz.hpp>`, which includes sync.hpp. Errors are thrown as std::system_error with the codes of
 * the C functions. The functions may be called by the same threads as the C functions. If an exception leaves a
 * spawned function, the function that waits for its result rethrows it. */

/* The result of a spawned function or of a promise. A future may be copied; all copies refer to the same result, and
 * each may wait for it. */
template <class T> class future {
public:
  /* A default-constructed future has no state: valid() is false, and only assignment to it is allowed. */
  future() = default;
  explicit future(std::shared_ptr<detail::shared<T>> state) : state_(std::move(state)) {}
  bool valid() const { return static_cast<bool>(state_); }
  /* Wait until the value or an exception is available; wait_for returns false if the time has elapsed first. ready()
   * does not wait. */
  QZ_HERE void wait() const { detail::check(qz_future_get(&state_->done, nullptr), "qz::future::wait"); }
  template <class Rep, class Period> QZ_HERE bool wait_for(const std::chrono::duration<Rep, Period> &time) const {
    timespec until = detail::in(time);
    return detail::in_time(qz_future_clockget(&state_->done, nullptr, CLOCK_MONOTONIC, &until), "qz::future::wait_for");
  }
  bool ready() const { return qz_future_tryget(&state_->done, nullptr) == 0; }
  /* Waits. Returns a reference to the value, which is valid as long as a copy of the future exists, or throws the
   * stored exception. */
  QZ_HERE std::add_lvalue_reference_t<T> get() const {
    wait();
    if (state_->error) std::rethrow_exception(state_->error);
    if constexpr (!std::is_void_v<T>) return *state_->value;
  }

private:
  std::shared_ptr<detail::shared<T>> state_;
};

/* Sets a future once, to a value or an exception. */
template <class T> class promise {
public:
  /* `name` is shown in reports. */
  QZ_HERE explicit promise(const char *name = nullptr) : state_(detail::shared<T>::make(name)) {}
  /* Returns a future for this promise; it may be called any number of times. */
  qz::future<T> future() const { return qz::future<T>(state_); }
  /* Throw EBUSY: the promise was set before. */
  template <class... Value> void set(Value &&...value) {
    if (set_.exchange(true)) throw std::system_error(EBUSY, std::generic_category(), "qz::promise::set");
    auto make = [&]() -> T {
      if constexpr (!std::is_void_v<T>) return T(std::forward<Value>(value)...);
    };
    state_->run(make);
  }
  void set_exception(std::exception_ptr error) {
    if (set_.exchange(true)) throw std::system_error(EBUSY, std::generic_category(), "qz::promise::set_exception");
    auto raise = [&]() -> T { std::rethrow_exception(error); };
    state_->run(raise);
  }

private:
  std::shared_ptr<detail::shared<T>> state_;
  std::atomic<bool> set_{false};
};

/* A thread that is joined by the destructor. An exception that leaves its function ends the program. */
class thread {
public:
  /* Constructs an object without a thread. */
  thread() = default;
  /* Calls function(arguments...) in a new thread; the function and its arguments are copied or moved into it. Throws
   * EAGAIN, ENOMEM. */
  template <class F, class... A, class = std::enable_if_t<std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>>>
  QZ_HERE explicit thread(const char *name, F &&function, A &&...arguments) {
    auto bound = [function = std::decay_t<F>(std::forward<F>(function)),
                  arguments = std::tuple<std::decay_t<A>...>(std::forward<A>(arguments)...)]() mutable {
      std::apply(std::move(function), std::move(arguments));
    };
    using Bound = decltype(bound);
    auto owned = std::make_unique<Bound>(std::move(bound));
    void *(*start)(void *) = [](void *raw) -> void * {
      std::unique_ptr<Bound> mine(static_cast<Bound *>(raw));
      [&]() noexcept { (*mine)(); }();
      return nullptr;
    };
    detail::check(qz_create(&handle_, name, start, owned.get()), "qz::thread");
    owned.release();
    joinable_ = true;
  }
  template <class F, class = std::enable_if_t<std::is_invocable_v<std::decay_t<F>>>>
  QZ_HERE explicit thread(F &&function) : thread(static_cast<const char *>(nullptr), std::forward<F>(function)) {}
  /* A thread can be moved. Assignment first joins the thread that the target has. */
  thread(thread &&other) noexcept : handle_(other.handle_), joinable_(std::exchange(other.joinable_, false)) {}
  thread &operator=(thread &&other) noexcept {
    if (this != &other) {
      if (joinable_) join();
      handle_ = other.handle_;
      joinable_ = std::exchange(other.joinable_, false);
    }
    return *this;
  }
  /* Joins the thread if it is joinable. */
  QZ_HERE ~thread() {
    if (joinable_) qz_join(handle_, nullptr);
  }
  /* Returns true if there is a thread that was neither joined nor detached. */
  bool joinable() const { return joinable_; }
  /* Throw EINVAL: the thread is not joinable. join also throws EDEADLK: the thread waits for the caller. */
  QZ_HERE void join() {
    detail::check(joinable_ ? qz_join(handle_, nullptr) : EINVAL, "qz::thread::join");
    joinable_ = false;
  }
  QZ_HERE void detach() {
    detail::check(joinable_ ? qz_detach(handle_) : EINVAL, "qz::thread::detach");
    joinable_ = false;
  }
  /* Returns the handle for the C functions. */
  qz_thread_t native_handle() const { return handle_; }

private:
  qz_thread_t handle_{};
  bool joinable_ = false;
};

/* Runs the function in a new thread; the future delivers its return value or exception. Throws EAGAIN, ENOMEM. */
template <class F>
QZ_HERE auto spawn(const char *name, F &&function) -> future<std::invoke_result_t<std::decay_t<F> &>> {
  using R = std::invoke_result_t<std::decay_t<F> &>;
  struct work {
    std::shared_ptr<detail::shared<R>> state;
    std::decay_t<F> function;
  };
  auto state = detail::shared<R>::make(name);
  auto owned = std::unique_ptr<work>(new work{state, std::forward<F>(function)});
  void *(*start)(void *) = [](void *raw) -> void * {
    std::unique_ptr<work> mine(static_cast<work *>(raw));
    mine->state->run(mine->function);
    return nullptr;
  };
  qz_thread_attr attr{name, 0, 1};
  qz_thread_t handle;
  detail::check(qz_thread_create(&handle, &attr, start, owned.get()), "qz::spawn");
  owned.release();
  return future<R>(std::move(state));
}
template <class F> QZ_HERE auto spawn(F &&function) { return spawn(nullptr, std::forward<F>(function)); }

/* Fork-join: all spawned calls have ended when sync() or the destructor returns. sync() throws the first exception
 * of the calls. */
class scope : detail::fixed {
public:
  /* Waits for all calls. An exception that no sync() has thrown is lost. */
  QZ_HERE ~scope() { qz_sync(&scope_); }
  /* Calls function(), in sync() at the latest. */
  template <class F> QZ_HERE void spawn(F &&function) {
    struct work {
      scope *self;
      std::decay_t<F> function;
    };
    void (*run)(void *) = [](void *raw) {
      std::unique_ptr<work> mine(static_cast<work *>(raw));
      try {
        mine->function();
      } catch (...) { mine->self->keep(std::current_exception()); }
    };
    qz_spawn(&scope_, run, new work{this, std::forward<F>(function)});
  }
  /* Waits for all calls, and throws the first exception of them. */
  QZ_HERE void sync() {
    qz_sync(&scope_);
    if (failed_.load(std::memory_order_acquire)) {
      auto error = std::exchange(error_, nullptr);
      failed_.store(false, std::memory_order_relaxed);
      std::rethrow_exception(error);
    }
  }

private:
  void keep(std::exception_ptr error) {
    if (!failed_.exchange(true, std::memory_order_acq_rel)) error_ = std::move(error);
  }
  qz_scope scope_ = QZ_SCOPE_INIT;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

/* Calls function(i) for every i in [begin, end), in parallel, in parts of at most `grain` elements (0: the package
 * chooses). Throws the first exception: parts that have started continue until their end or their own first
 * exception; other parts are not started. */
template <class F>
QZ_HERE void parallel_for(std::int64_t begin, std::int64_t end, F &&function, std::int64_t grain = 0) {
  struct shared {
    std::remove_reference_t<F> *function;
    std::atomic<bool> failed{false};
    std::exception_ptr error;
  } state;
  state.function = &function;
  qz_parallel_for(
    begin, end, grain,
    [](std::int64_t from, std::int64_t to, void *raw) {
      auto *part_of = static_cast<shared *>(raw);
      if (part_of->failed.load(std::memory_order_relaxed)) return;
      try {
        for (std::int64_t i = from; i < to; i++) (*part_of->function)(i);
      } catch (...) {
        if (!part_of->failed.exchange(true)) part_of->error = std::current_exception();
      }
    },
    &state);
  if (state.error) std::rethrow_exception(state.error);
}

/* Yields the processor to other threads that are ready on it. */
inline void yield() { qz_yield(); }
/* Suspends the caller for at least that time; its processor runs other threads in that time. */
template <class Rep, class Period> QZ_HERE void sleep_for(const std::chrono::duration<Rep, Period> &time) {
  auto ns = std::chrono::ceil<std::chrono::nanoseconds>(time).count();
  if (ns > 0) qz_sleep_ns(static_cast<std::uint64_t>(ns));
}

#undef QZ_HERE
} // namespace qz
#endif
