/* How the program's threads are executed, which determines what a snapshot is: on the processors of a thread package
 * (processors.c), or as kernel threads (kernel_threads.c).
 *
 * Owns:    nothing. Writer: nobody. Reader: the aggregating thread; in `visit`, the visiting threads.
 */
#ifndef QZI_THREADING_H
#define QZI_THREADING_H

#include <stdint.h>

struct qzi_sampler;
struct qz_object;

struct qzi_threading {
  int whole; /* 1: a snapshot sees every thread, and P is constant; 0: threads without processors are visited in turn */
  int (*open)(struct qzi_sampler *sampler); /* returns 0, or -1 if there is no memory */
  void (*close)(struct qzi_sampler *sampler);
  /* Does slow preparations before the program runs. */
  void (*prepare)(struct qzi_sampler *sampler);
  /* The rate of the recording is known or has changed. */
  void (*start)(struct qzi_sampler *sampler);
  /* Nothing was published for a while. */
  void (*skip)(struct qzi_sampler *sampler);
  /* The two phases of a snapshot (snapshot.h). */
  void (*visit)(struct qzi_sampler *sampler, uint32_t first, uint32_t end);
  int (*add)(struct qzi_sampler *sampler, uint64_t now_ns, uint64_t until_ns);
  /* Adds what the last snapshot still stands for. NULL: `add` has added all of it. */
  int (*add_rest)(struct qzi_sampler *sampler, uint64_t now_ns);
  /* The next snapshot is the last one of a program that used total_ns of processor time, 0: unknown. NULL: the last
   * snapshot is like all others. */
  void (*last)(struct qzi_sampler *sampler, uint64_t total_ns);
  /* Adds sums that were not added yet (resting_threads.h). */
  void (*settle)(struct qzi_sampler *sampler);
  /* Node of the path, with its frames, on which the last snapshot saw the thread `index`; 0: the path in its record. */
  uint32_t (*node)(const struct qzi_sampler *sampler, uint32_t index);
  /* Charges ns of waiting for a lock to its holders. Returns 0 if the holder that the lock itself names is to be
   * charged. */
  int (*blame)(struct qzi_sampler *sampler, const struct qz_object *lock, uint32_t index, uint32_t entity, uint64_t ns);
  /* Records that a call which returns to `site` takes that lock (a key). */
  void (*taken)(struct qzi_sampler *sampler, uint64_t key, uint64_t site);
  /* Time in ns that walks of stacks, and analyses of code, took. */
  uint64_t (*apart_ns)(const struct qzi_sampler *sampler);
};

extern const struct qzi_threading qzi_processor_threading, qzi_kernel_threading;

#endif
