/* Synchronization objects for C++17: a thin header-only layer over sync.h. Futures are in quartz.hpp, which includes
 * this file. docs/reference/library.md is generated from these comments (scripts/library-page.js).
 */
#ifndef QUARTZ_SYNC_HPP
#define QUARTZ_SYNC_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <system_error>
#include <type_traits>
#include <utility>
#include <quartz/sync.h>

namespace qz {

/* Inlined, so that the place that is recorded for an object is in the user's code. */
#define QZ_HERE __attribute__((always_inline)) inline

/* # Synchronization objects in C++
 *
 * Each class contains the object of sync.h that its comment names, cannot be copied or moved, and has
 * native_handle() for use with the C functions. `name` is shown in reports. Errors are thrown as std::system_error
 * with the codes of the C functions. Functions that cannot throw (destructors, unlock) abort the program with a
 * message of one line instead, which names the object, the place where it was made and the place of the call.
 * Functions that take a duration or a time point return false, or an empty std::optional, when the time has elapsed.
 * Time points are those of std::chrono::steady_clock and std::chrono::system_clock; other clocks do not compile. */

/* How threads wait; see qz_policy. */
enum class policy { adaptive = QZ_ADAPTIVE, block = QZ_BLOCK, spin = QZ_SPIN };

namespace detail {
QZ_HERE void check(int error, const char *what) {
  if (__builtin_expect(error != 0, 0)) throw std::system_error(error, std::generic_category(), what);
}
/* For functions that must not throw: an error aborts the program. */
QZ_HERE void must(int error, const void *object, const char *what) noexcept {
  if (__builtin_expect(error != 0, 0)) qz_misuse(object, what, error);
}
template <class Clock, class Duration> timespec at(const std::chrono::time_point<Clock, Duration> &time) {
  auto ns = std::chrono::ceil<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  if (ns < 0) ns = 0;
  return timespec{static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};
}
template <class Rep, class Period> timespec in(const std::chrono::duration<Rep, Period> &time) {
  return at(std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::nanoseconds>(time));
}
/* Only the two clocks below are defined, so time points of other clocks do not compile. */
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

/* qz_mutex. Works with std::lock_guard, std::unique_lock and std::scoped_lock. */
class mutex : detail::fixed {
public:
  /* If `name` is NULL, reports show the place of the constructor call. */
  QZ_HERE explicit mutex(const char *name = nullptr, qz::policy policy = qz::policy::adaptive) {
    detail::check(qz_mutex_init(&mutex_, name, static_cast<qz_policy>(policy)), "qz::mutex");
  }
  QZ_HERE ~mutex() { detail::must(qz_mutex_destroy(&mutex_), &mutex_, "~mutex"); }
  /* lock() throws EDEADLK: the caller holds the mutex. try_lock() returns false if the mutex is held. */
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
  /* Aborts the program if the caller does not hold the mutex. */
  QZ_HERE void unlock() noexcept { detail::must(qz_mutex_unlock(&mutex_), &mutex_, "unlock"); }
  /* Returns the object for the C functions. */
  qz_mutex *native_handle() { return &mutex_; }

private:
  qz_mutex mutex_;
};

/* qz_rwlock: lock() is for writing, lock_shared() for reading. Works with std::unique_lock and std::shared_lock. */
class shared_mutex : detail::fixed {
public:
  /* If `name` is NULL, reports show the place of the constructor call. */
  QZ_HERE explicit shared_mutex(const char *name = nullptr) {
    detail::check(qz_rwlock_init(&lock_, name), "qz::shared_mutex");
  }
  QZ_HERE ~shared_mutex() { detail::must(qz_rwlock_destroy(&lock_), &lock_, "~shared_mutex"); }
  /* lock() and lock_shared() throw EDEADLK: the caller holds the lock for writing. The try functions return false if
   * the lock cannot be taken at once. */
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
    return detail::in_time(qz_rwlock_clockrdlock(&lock_, CLOCK_MONOTONIC, &until),
                           "qz::shared_mutex::try_lock_shared_for");
  }
  /* Returns the object for the C functions. */
  qz_rwlock *native_handle() { return &lock_; }

private:
  qz_rwlock lock_;
};

/* qz_cond. The caller passes a std::unique_lock that holds a qz::mutex. */
class condition : detail::fixed {
public:
  /* If `name` is NULL, reports show the place of the constructor call. */
  QZ_HERE explicit condition(const char *name = nullptr) { detail::check(qz_cond_init(&cond_, name), "qz::condition"); }
  QZ_HERE ~condition() { detail::must(qz_cond_destroy(&cond_), &cond_, "~condition"); }
  /* Throws EPERM: the mutex is not held. The overload with a predicate waits until ready() returns true. */
  QZ_HERE void wait(std::unique_lock<mutex> &lock) {
    detail::check(qz_cond_wait(&cond_, lock.mutex()->native_handle()), "qz::condition::wait");
  }
  template <class Predicate> QZ_HERE void wait(std::unique_lock<mutex> &lock, Predicate ready) {
    while (!ready()) wait(lock);
  }
  /* Return false if the time has elapsed; with a predicate, only if ready() is still false. */
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
  QZ_HERE bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &time,
                        Predicate ready) {
    const auto nanoseconds = std::chrono::ceil<std::chrono::nanoseconds>(time);
    return wait_until(lock, std::chrono::steady_clock::now() + nanoseconds, ready);
  }
  /* notify_one wakes the thread that has waited longest, notify_all wakes all. */
  QZ_HERE void notify_one() noexcept { qz_cond_signal(&cond_); }
  QZ_HERE void notify_all() noexcept { qz_cond_broadcast(&cond_); }
  /* Returns the object for the C functions. */
  qz_cond *native_handle() { return &cond_; }

private:
  qz_cond cond_;
};

/* qz_sem. */
class semaphore : detail::fixed {
public:
  /* `value` is the initial count. Throws EINVAL: it is greater than INT_MAX. */
  QZ_HERE explicit semaphore(unsigned value, const char *name = nullptr) {
    detail::check(qz_sem_init(&sem_, name, value), "qz::semaphore");
  }
  QZ_HERE ~semaphore() { detail::must(qz_sem_destroy(&sem_), &sem_, "~semaphore"); }
  /* Take a unit; the try functions return false if none is available. */
  QZ_HERE void acquire() { detail::check(qz_sem_wait(&sem_), "qz::semaphore::acquire"); }
  QZ_HERE bool try_acquire() { return qz_sem_trywait(&sem_) == 0; }
  template <class Rep, class Period> QZ_HERE bool try_acquire_for(const std::chrono::duration<Rep, Period> &time) {
    timespec until = detail::in(time);
    return detail::in_time(qz_sem_clockwait(&sem_, CLOCK_MONOTONIC, &until), "qz::semaphore::try_acquire_for");
  }
  /* Adds a unit. Throws EOVERFLOW. */
  QZ_HERE void release() { detail::check(qz_sem_post(&sem_), "qz::semaphore::release"); }
  /* Returns the object for the C functions. */
  qz_sem *native_handle() { return &sem_; }

private:
  qz_sem sem_;
};

/* qz_barrier. */
class barrier : detail::fixed {
public:
  /* Throws EINVAL: `parties` is 0. */
  QZ_HERE explicit barrier(unsigned parties, const char *name = nullptr, qz::policy policy = qz::policy::adaptive) {
    detail::check(qz_barrier_init(&barrier_, name, parties, static_cast<qz_policy>(policy)), "qz::barrier");
  }
  QZ_HERE ~barrier() { detail::must(qz_barrier_destroy(&barrier_), &barrier_, "~barrier"); }
  /* Waits until all parties have reached the barrier; returns true in one of them. */
  QZ_HERE bool wait() { return qz_barrier_wait(&barrier_) == QZ_BARRIER_SERIAL; }
  /* Returns the object for the C functions. */
  qz_barrier *native_handle() { return &barrier_; }

private:
  qz_barrier barrier_;
};

/* qz_channel for items of type T. An item that is not trivially copyable is moved to the heap, and the channel
 * transports its pointer. Items that were not received are destroyed with the channel. */
template <class T> class channel : detail::fixed {
  static constexpr bool plain = std::is_trivially_copyable_v<T>;
  using item = std::conditional_t<plain, T, T *>;

public:
  /* `capacity` is the number of sent items that the channel can hold until they are received; with capacity 0, a
   * sender waits until a receiver takes its item. Throws ENOMEM, EINVAL. */
  QZ_HERE explicit channel(std::size_t capacity, const char *name = nullptr) {
    detail::check(qz_channel_init(&channel_, name, sizeof(item), capacity), "qz::channel");
  }
  QZ_HERE ~channel() {
    if constexpr (!plain)
      for (T *left; qz_channel_tryreceive(&channel_, &left) == 0;) delete left;
    detail::must(qz_channel_destroy(&channel_), &channel_, "~channel");
  }
  /* Returns false if the channel is closed. */
  QZ_HERE bool send(T value) {
    return pass(value, [this](item *it) { return qz_channel_send(&channel_, it); });
  }
  /* Returns false if the channel is full or closed. */
  QZ_HERE bool try_send(T value) {
    return pass(value, [this](item *it) { return qz_channel_trysend(&channel_, it); });
  }
  /* Return an empty std::optional if the channel is closed and no item is left; try_receive and receive_for also if
   * no item was available in time. */
  QZ_HERE std::optional<T> receive() {
    item it;
    return take(qz_channel_receive(&channel_, &it), it);
  }
  QZ_HERE std::optional<T> try_receive() {
    item it;
    return take(qz_channel_tryreceive(&channel_, &it), it);
  }
  template <class Rep, class Period>
  QZ_HERE std::optional<T> receive_for(const std::chrono::duration<Rep, Period> &time) {
    timespec until = detail::in(time);
    item it;
    return take(qz_channel_clockreceive(&channel_, &it, CLOCK_MONOTONIC, &until), it);
  }
  /* Ends sending; see qz_channel_close. */
  QZ_HERE void close() { qz_channel_close(&channel_); }
  /* Returns the object for the C functions. */
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

#undef QZ_HERE
} // namespace qz
#endif
