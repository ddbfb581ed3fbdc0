/* Threads that run an object, another one whose operator is not inlined, and a lambda; work in a lambda that a template
 * calls. */
#include <ctime>
#include <thread>
#include <vector>

namespace mill {
__attribute__((always_inline)) static inline void work_ms(long ms) {
  timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    for (volatile int k = 0; k < 2000; k = k + 1) continue;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

static std::vector<long> parts(100, 10);
template <class F> __attribute__((always_inline)) static inline void run_all(const std::vector<long> &all, F each) {
  for (long one : all) each(one);
}
struct Job {
  __attribute__((always_inline)) void operator()() const {
    // each part of the work
    run_all(
      parts, [](long ms) __attribute__((always_inline)) { work_ms(ms); });
  }
};
} // namespace mill
struct Plain {
  __attribute__((noinline)) void operator()(int ms, double) const { mill::work_ms(ms); }
};

int main() {
  std::thread job(mill::Job{});
  std::thread plain(Plain{}, 100, 1.0);
  std::thread lambda([] { mill::work_ms(100); });
  job.join();
  plain.join();
  lambda.join();
}
