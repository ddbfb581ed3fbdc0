/* Quartz for C++17: a thin layer over quartz.h, header only.
 *
 * qz::mutex, qz::shared_mutex work with std::lock_guard, std::unique_lock, std::shared_lock, std::scoped_lock.
 * Errors are std::system_error with the codes of the C functions, unless the function can't throw (destructors,
 * unlock): then the program stops with one line that names the object and the two places.
 * Objects can't be copied or moved. Exceptions that leave a spawned function come out where it is waited for.
 */
#ifndef QUARTZ_QUARTZ_HPP
#define QUARTZ_QUARTZ_HPP

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <quartz/quartz.h>

namespace qz {

/* Inlined, so that an object's place is that of the user's code. */
#define QZ_HERE __attribute__((always_inline)) inline

enum class policy { adaptive = QZ_ADAPTIVE, block = QZ_BLOCK, spin = QZ_SPIN };

namespace detail {
QZ_HERE void check(int error, const char *what) {
  if (__builtin_expect(error != 0, 0)) throw std::system_error(error, std::generic_category(), what);
}
/* For functions that must not throw. */
QZ_HERE void must(int error, const void *object, const char *what) noexcept {
  if (__builtin_expect(error != 0, 0)) qz_misuse(object, what, error);
}
template <class Clock, class Duration>
timespec at(const std::chrono::time_point<Clock, Duration> &time) {
  auto ns = std::chrono::ceil<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  if (ns < 0) ns = 0;
  return timespec{ static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000) };
}
template <class Rep, class Period> timespec in(const std::chrono::duration<Rep, Period> &time) {
  return at(std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::nanoseconds>(time));
}
/* Time points of other clocks than these two do not compile. */
template <class Clock> constexpr int clock_id();
template <> constexpr int clock_id<std::chrono::steady_clock>() { return CLOCK_MONOTONIC; }
template <> constexpr int clock_id<std::chrono::system_clock>() { return CLOCK_REALTIME; }
QZ_HERE bool in_time(int error, const char *what) {
  if (error == ETIMEDOUT) return false;
  check(error, what);
  return true;
}
struct fixed {
  fixed() = default;
  fixed(const fixed &) = delete;
  fixed &operator=(const fixed &) = delete;
};
} // namespace detail

class mutex : detail::fixed {
public:
  QZ_HERE explicit mutex(const char *name = nullptr, qz::policy policy = qz::policy::adaptive) {
    detail::check(qz_mutex_init(&mutex_, name, static_cast<qz_policy>(policy)), "qz::mutex");
  }
  QZ_HERE ~mutex() { detail::must(qz_mutex_destroy(&mutex_), &mutex_, "~mutex"); }
  QZ_HERE void lock() { detail::check(qz_mutex_lock(&mutex_), "qz::mutex::lock"); }
  QZ_HERE bool try_lock() {
    int error = qz_mutex_trylock(&mutex_);
    if (error != EBUSY) detail::check(error, "qz::mutex::try_lock");
    return error == 0;
  }
  template <class Rep, class Period> QZ_HERE bool try_lock_for(const std::chrono::duration<Rep, Period> &time) {
    timespec until = detail::in(time);
    return detail::in_time(qz_mutex_clocklock(&mutex_, CLOCK_MONOTONIC, &until), "qz::mutex::try_lock_for");
  }
  template <class Clock, class Duration>
  QZ_HERE bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
    timespec until = detail::at(time);
    return detail::in_time(qz_mutex_clocklock(&mutex_, detail::clock_id<Clock>(), &until), "qz::mutex::try_lock_until");
  }
  QZ_HERE void unlock() noexcept { detail::must(qz_mutex_unlock(&mutex_), &mutex_, "unlock"); }
  qz_mutex *native_handle() { return &mutex_; }

private:
  qz_mutex mutex_;
};

class shared_mutex : detail::fixed {
public:
  QZ_HERE explicit shared_mutex(const char *name = nullptr) { detail::check(qz_rwlock_init(&lock_, name), "qz::shared_mutex"); }
  QZ_HERE ~shared_mutex() { detail::must(qz_rwlock_destroy(&lock_), &lock_, "~shared_mutex"); }
  QZ_HERE void lock() { detail::check(qz_rwlock_wrlock(&lock_), "qz::shared_mutex::lock"); }
  QZ_HERE bool try_lock() { return qz_rwlock_trywrlock(&lock_) == 0; }
  QZ_HERE void unlock() noexcept { detail::must(qz_rwlock_unlock(&lock_), &lock_, "unlock"); }
  QZ_HERE void lock_shared() { detail::check(qz_rwlock_rdlock(&lock_), "qz::shared_mutex::lock_shared"); }
  QZ_HERE bool try_lock_shared() { return qz_rwlock_tryrdlock(&lock_) == 0; }
  QZ_HERE void unlock_shared() noexcept { unlock(); }
  template <class Rep, class Period> QZ_HERE bool try_lock_for(const std::chrono::duration<Rep, Period> &time) {
    timespec until = detail::in(time);
    return detail::in_time(qz_rwlock_clockwrlock(&lock_, CLOCK_MONOTONIC, &until), "qz::shared_mutex::try_lock_for");
  }
  template <class Rep, class Period> QZ_HERE bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &time) {
    timespec until = detail::in(time);
    return detail::in_time(qz_rwlock_clockrdlock(&lock_, CLOCK_MONOTONIC, &until), "qz::shared_mutex::try_lock_shared_for");
  }
  qz_rwlock *native_handle() { return &lock_; }

private:
  qz_rwlock lock_;
};

class condition : detail::fixed {
public:
  QZ_HERE explicit condition(const char *name = nullptr) { detail::check(qz_cond_init(&cond_, name), "qz::condition"); }
  QZ_HERE ~condition() { detail::must(qz_cond_destroy(&cond_), &cond_, "~condition"); }
  QZ_HERE void wait(std::unique_lock<mutex> &lock) {
    detail::check(qz_cond_wait(&cond_, lock.mutex()->native_handle()), "qz::condition::wait");
  }
  template <class Predicate> QZ_HERE void wait(std::unique_lock<mutex> &lock, Predicate ready) {
    while (!ready()) wait(lock);
  }
  /* False: the time came. */
  template <class Clock, class Duration>
  QZ_HERE bool wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<Clock, Duration> &time) {
    timespec until = detail::at(time);
    return detail::in_time(qz_cond_clockwait(&cond_, lock.mutex()->native_handle(), detail::clock_id<Clock>(), &until),
                           "qz::condition::wait_until");
  }
  template <class Clock, class Duration, class Predicate>
  QZ_HERE bool wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<Clock, Duration> &time,
                          Predicate ready) {
    while (!ready())
      if (!wait_until(lock, time)) return ready();
    return true;
  }
  template <class Rep, class Period>
  QZ_HERE bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &time) {
    return wait_until(lock, std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::nanoseconds>(time));
  }
  template <class Rep, class Period, class Predicate>
  QZ_HERE bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &time, Predicate ready) {
    return wait_until(lock, std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::nanoseconds>(time), ready);
  }
  QZ_HERE void notify_one() noexcept { qz_cond_signal(&cond_); }
  QZ_HERE void notify_all() noexcept { qz_cond_broadcast(&cond_); }
  qz_cond *native_handle() { return &cond_; }

private:
  qz_cond cond_;
};

class semaphore : detail::fixed {
public:
  QZ_HERE explicit semaphore(unsigned value, const char *name = nullptr) {
    detail::check(qz_sem_init(&sem_, name, value), "qz::semaphore");
  }
  QZ_HERE ~semaphore() { detail::must(qz_sem_destroy(&sem_), &sem_, "~semaphore"); }
  QZ_HERE void acquire() { detail::check(qz_sem_wait(&sem_), "qz::semaphore::acquire"); }
  QZ_HERE bool try_acquire() { return qz_sem_trywait(&sem_) == 0; }
  template <class Rep, class Period> QZ_HERE bool try_acquire_for(const std::chrono::duration<Rep, Period> &time) {
    timespec until = detail::in(time);
    return detail::in_time(qz_sem_clockwait(&sem_, CLOCK_MONOTONIC, &until), "qz::semaphore::try_acquire_for");
  }
  QZ_HERE void release() { detail::check(qz_sem_post(&sem_), "qz::semaphore::release"); }
  qz_sem *native_handle() { return &sem_; }

private:
  qz_sem sem_;
};

class barrier : detail::fixed {
public:
  QZ_HERE explicit barrier(unsigned parties, const char *name = nullptr, qz::policy policy = qz::policy::adaptive) {
    detail::check(qz_barrier_init(&barrier_, name, parties, static_cast<qz_policy>(policy)), "qz::barrier");
  }
  QZ_HERE ~barrier() { detail::must(qz_barrier_destroy(&barrier_), &barrier_, "~barrier"); }
  /* True for one of the threads. */
  QZ_HERE bool wait() { return qz_barrier_wait(&barrier_) == QZ_BARRIER_SERIAL; }
  qz_barrier *native_handle() { return &barrier_; }

private:
  qz_barrier barrier_;
};

/* Bounded channel. Items that can't be copied as bytes travel as pointers. Items that nobody received are destroyed
 * with the channel. */
template <class T> class channel : detail::fixed {
  static constexpr bool plain = std::is_trivially_copyable_v<T>;
  using item = std::conditional_t<plain, T, T *>;

public:
  QZ_HERE explicit channel(std::size_t capacity, const char *name = nullptr) {
    detail::check(qz_channel_init(&channel_, name, sizeof(item), capacity), "qz::channel");
  }
  QZ_HERE ~channel() {
    if constexpr (!plain)
      for (T *left; qz_channel_tryreceive(&channel_, &left) == 0;) delete left;
    detail::must(qz_channel_destroy(&channel_), &channel_, "~channel");
  }
  /* False: the channel is closed. */
  QZ_HERE bool send(T value) {
    return pass(value, [this](item *it) { return qz_channel_send(&channel_, it); });
  }
  /* False: full, or closed. */
  QZ_HERE bool try_send(T value) {
    return pass(value, [this](item *it) { return qz_channel_trysend(&channel_, it); });
  }
  /* Empty: the channel is closed and drained. */
  QZ_HERE std::optional<T> receive() {
    item it;
    return take(qz_channel_receive(&channel_, &it), it);
  }
  QZ_HERE std::optional<T> try_receive() {
    item it;
    return take(qz_channel_tryreceive(&channel_, &it), it);
  }
  template <class Rep, class Period> QZ_HERE std::optional<T> receive_for(const std::chrono::duration<Rep, Period> &time) {
    timespec until = detail::in(time);
    item it;
    return take(qz_channel_clockreceive(&channel_, &it, CLOCK_MONOTONIC, &until), it);
  }
  QZ_HERE void close() { qz_channel_close(&channel_); }
  qz_channel *native_handle() { return &channel_; }

private:
  template <class Send> QZ_HERE bool pass(T &value, Send send) {
    if constexpr (plain) {
      return send(&value) == 0;
    } else {
      auto owned = std::make_unique<T>(std::move(value));
      T *it = owned.get();
      if (send(&it) != 0) return false;
      owned.release();
      return true;
    }
  }
  QZ_HERE std::optional<T> take(int error, item &it) {
    if (error) return std::nullopt;
    if constexpr (plain) {
      return std::optional<T>(it);
    } else {
      std::unique_ptr<T> owned(it);
      return std::optional<T>(std::move(*owned));
    }
  }
  qz_channel channel_;
};

namespace detail {
template <class T> struct shared {
  qz_future done = QZ_FUTURE_INIT;
  std::conditional_t<std::is_void_v<T>, char, std::optional<std::conditional_t<std::is_void_v<T>, char, T>>> value{};
  std::exception_ptr error;
  /* The future's place is that of the caller, which make_shared would hide. */
  QZ_HERE static std::shared_ptr<shared> make(const char *name) {
    auto state = std::make_shared<shared>();
    check(qz_future_init(&state->done, name), "qz::future");
    return state;
  }
  ~shared() { qz_future_destroy(&done); }
  template <class F> void run(F &function) {
    try {
      if constexpr (std::is_void_v<T>) function();
      else value.emplace(function());
    } catch (...) {
      error = std::current_exception();
    }
    qz_future_set(&done, nullptr);
  }
};
} // namespace detail

/* The result of a spawned function, or of a promise. Any number of copies; each may wait. */
template <class T> class future {
public:
  future() = default;
  explicit future(std::shared_ptr<detail::shared<T>> state) : state_(std::move(state)) {}
  bool valid() const { return static_cast<bool>(state_); }
  QZ_HERE void wait() const { detail::check(qz_future_get(&state_->done, nullptr), "qz::future::wait"); }
  template <class Rep, class Period> QZ_HERE bool wait_for(const std::chrono::duration<Rep, Period> &time) const {
    timespec until = detail::in(time);
    return detail::in_time(qz_future_clockget(&state_->done, nullptr, CLOCK_MONOTONIC, &until), "qz::future::wait_for");
  }
  bool ready() const { return qz_future_tryget(&state_->done, nullptr) == 0; }
  /* The value (a reference to it, good as long as a copy of the future lives), or the exception. */
  QZ_HERE std::add_lvalue_reference_t<T> get() const {
    wait();
    if (state_->error) std::rethrow_exception(state_->error);
    if constexpr (!std::is_void_v<T>) return *state_->value;
  }

private:
  std::shared_ptr<detail::shared<T>> state_;
};

template <class T> class promise {
public:
  QZ_HERE explicit promise(const char *name = nullptr) : state_(detail::shared<T>::make(name)) {}
  qz::future<T> future() const { return qz::future<T>(state_); }
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
  std::atomic<bool> set_{ false };
};

/* A thread that is joined at the end of its scope. An exception that leaves its function ends the program. */
class thread {
public:
  thread() = default;
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
  thread(thread &&other) noexcept : handle_(other.handle_), joinable_(std::exchange(other.joinable_, false)) {}
  thread &operator=(thread &&other) noexcept {
    if (this != &other) {
      if (joinable_) join();
      handle_ = other.handle_;
      joinable_ = std::exchange(other.joinable_, false);
    }
    return *this;
  }
  QZ_HERE ~thread() {
    if (joinable_) qz_join(handle_, nullptr);
  }
  bool joinable() const { return joinable_; }
  QZ_HERE void join() {
    detail::check(joinable_ ? qz_join(handle_, nullptr) : EINVAL, "qz::thread::join");
    joinable_ = false;
  }
  QZ_HERE void detach() {
    detail::check(joinable_ ? qz_detach(handle_) : EINVAL, "qz::thread::detach");
    joinable_ = false;
  }
  qz_thread_t native_handle() const { return handle_; }

private:
  qz_thread_t handle_{};
  bool joinable_ = false;
};

/* Runs the function in a thread of its own; its result or exception comes out of the future. */
template <class F> QZ_HERE auto spawn(const char *name, F &&function) -> future<std::invoke_result_t<std::decay_t<F> &>> {
  using R = std::invoke_result_t<std::decay_t<F> &>;
  struct work {
    std::shared_ptr<detail::shared<R>> state;
    std::decay_t<F> function;
  };
  auto state = detail::shared<R>::make(name);
  auto owned = std::unique_ptr<work>(new work{ state, std::forward<F>(function) });
  void *(*start)(void *) = [](void *raw) -> void * {
    std::unique_ptr<work> mine(static_cast<work *>(raw));
    mine->state->run(mine->function);
    return nullptr;
  };
  qz_thread_attr attr{ name, 0, 1 };
  qz_thread_t handle;
  detail::check(qz_thread_create(&handle, &attr, start, owned.get()), "qz::spawn");
  owned.release();
  return future<R>(std::move(state));
}
template <class F> QZ_HERE auto spawn(F &&function) { return spawn(nullptr, std::forward<F>(function)); }

/* Fork-join: spawned calls have ended when sync() returns, or the scope ends. sync() throws the first exception. */
class scope : detail::fixed {
public:
  QZ_HERE ~scope() { qz_sync(&scope_); }
  template <class F> QZ_HERE void spawn(F &&function) {
    struct work {
      scope *self;
      std::decay_t<F> function;
    };
    void (*run)(void *) = [](void *raw) {
      std::unique_ptr<work> mine(static_cast<work *>(raw));
      try {
        mine->function();
      } catch (...) {
        mine->self->keep(std::current_exception());
      }
    };
    qz_spawn(&scope_, run, new work{ this, std::forward<F>(function) });
  }
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
  std::atomic<bool> failed_{ false };
  std::exception_ptr error_;
};

/* Calls function(i) for every i in [begin, end), in parallel, in parts of `grain` (0: chosen). Throws the first exception;
 * parts that have begun are run to their end or first exception, others are not. */
template <class F> QZ_HERE void parallel_for(std::int64_t begin, std::int64_t end, F &&function, std::int64_t grain = 0) {
  struct shared {
    std::remove_reference_t<F> *function;
    std::atomic<bool> failed{ false };
    std::exception_ptr error;
  } state;
  state.function = &function;
  qz_parallel_for(
      begin, end, grain,
      [](std::int64_t from, std::int64_t to, void *raw) {
        auto *state = static_cast<shared *>(raw);
        if (state->failed.load(std::memory_order_relaxed)) return;
        try {
          for (std::int64_t i = from; i < to; i++) (*state->function)(i);
        } catch (...) {
          if (!state->failed.exchange(true)) state->error = std::current_exception();
        }
      },
      &state);
  if (state.error) std::rethrow_exception(state.error);
}

inline void yield() { qz_yield(); }
template <class Rep, class Period> QZ_HERE void sleep_for(const std::chrono::duration<Rep, Period> &time) {
  auto ns = std::chrono::ceil<std::chrono::nanoseconds>(time).count();
  if (ns > 0) qz_sleep_ns(static_cast<std::uint64_t>(ns));
}

#undef QZ_HERE
} // namespace qz
#endif
