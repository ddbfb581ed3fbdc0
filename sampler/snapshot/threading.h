/* How the program's threads come to run, and so what a snapshot of them is: on the processors of a thread package
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
  int (*open)(struct qzi_sampler *sampler); /* 0, or -1: out of memory */
  void (*close)(struct qzi_sampler *sampler);
  /* What takes long, before the program runs. */
  void (*prepare)(struct qzi_sampler *sampler);
  /* The rate of the recording is known; again where it has changed. */
  void (*start)(struct qzi_sampler *sampler);
  /* Nothing was published for a while. */
  void (*skip)(struct qzi_sampler *sampler);
  /* The two phases of a snapshot (snapshot.h). */
  void (*visit)(struct qzi_sampler *sampler, uint32_t first, uint32_t end);
  int (*add)(struct qzi_sampler *sampler, uint64_t now_ns);
  /* The snapshot that is added next is the last one of a program that used so much processor time, 0: not known. NULL:
   * it is like all others. */
  void (*last)(struct qzi_sampler *sampler, uint64_t total_ns);
  /* Adds what is summed up and not added yet (resting_threads.h). */
  void (*settle)(struct qzi_sampler *sampler);
  /* Node of the path, with its frames, on which the last snapshot saw the thread `index`; 0: as its record says. */
  uint32_t (*node)(const struct qzi_sampler *sampler, uint32_t index);
  /* Charges ns, of threads that wait for a lock, to those who hold it. 0: whoever the lock itself names. */
  int (*blame)(struct qzi_sampler *sampler, const struct qz_object *lock, uint32_t index, uint32_t entity, uint64_t ns);
  /* A call that returns to `site` takes that lock (a key). */
  void (*taken)(struct qzi_sampler *sampler, uint64_t key, uint64_t site);
  /* Time that walks of stacks took in all. */
  uint64_t (*walks_ns)(const struct qzi_sampler *sampler);
};

extern const struct qzi_threading qzi_processor_threading, qzi_kernel_threading;

#endif
