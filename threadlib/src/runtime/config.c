/* Configuration: QUARTZ_* environment variables take precedence over qz_init's options, and those over defaults.
 *
 * Owns:    the constant part of qzi_runtime.
 * Writer:  start-up and qz_init, before the first thread is created.
 * Reader:  all files of the package.
 * Must not: fail because of an invalid variable: it reports it in one line and uses the default.
 */
#define _GNU_SOURCE
#include "threadlib/src/scheduler/processor.h"
#include "threadlib/src/thread/spawn.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_DEFAULT_BYTES (64u << 10)
#define STACK_LEAST_BYTES   (16u << 10)
#define THREADS_DEFAULT     2000000u
#define SPIN_DEFAULT_NS     50000u /* a wake-up takes 10 to 20 us */

/* Reads a number from an environment variable; with `bytes`, a suffix k, m or g is accepted. An invalid value is
 * reported only at start-up, not again in qz_init. */
static bool number(const char *name, bool bytes, uint64_t least, uint64_t most, uint64_t *value) {
  const char *text = getenv(name);
  if (!text || !*text) return false;
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  unsigned shift = 0;
  if (bytes && *end) {
    shift = *end == 'k' || *end == 'K' ? 10 : *end == 'm' || *end == 'M' ? 20 : *end == 'g' || *end == 'G' ? 30 : 0;
    if (shift) end++;
  }
  if (errno || *end || end == text || *text == '-' || n > UINT64_MAX >> shift || n << shift < least ||
      n << shift > most) {
    if (!qzi_runtime.processors)
      fprintf(stderr, "quartz: %s=%s is not understood, the default is taken; give a number from %llu to %llu%s\n",
              name, text, (unsigned long long)least, (unsigned long long)most, bytes ? " (k, m, g may follow)" : "");
    return false;
  }
  *value = n << shift;
  return true;
}

/* Finds the CPUs that the process may use; at most 65536. */
static void find_cpus(void) {
  for (size_t cpus = 1024; cpus <= 65536; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    size_t bytes = CPU_ALLOC_SIZE(cpus);
    if (!set) break;
    if (sched_getaffinity(0, bytes, set) == 0) {
      unsigned count = (unsigned)CPU_COUNT_S(bytes, set), n = 0;
      qzi_runtime.cpus = malloc(count * sizeof *qzi_runtime.cpus);
      for (uint32_t cpu = 0; qzi_runtime.cpus && cpu < cpus && n < count; cpu++)
        if (CPU_ISSET_S(cpu, bytes, set)) qzi_runtime.cpus[n++] = cpu;
      qzi_runtime.cpu_count = n;
      CPU_FREE(set);
      break;
    }
    CPU_FREE(set);
    if (errno != EINVAL) break;
  }
  if (!qzi_runtime.cpu_count) qzi_runtime.cpu_count = 1;
}

int qzi_config(const qz_options *options) {
  if (!qzi_runtime.cpu_count) find_cpus();
  unsigned cpus = qzi_runtime.cpu_count;
  uint64_t processors = cpus >= 4 ? cpus - 1 : cpus, stack = STACK_DEFAULT_BYTES, threads = THREADS_DEFAULT;
  uint64_t spin = UINT64_MAX, pin = 2;
  qzi_runtime.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  if (options) {
    if (options->processors >= QZI_SERIAL_STEP || (options->stack_bytes && options->stack_bytes < STACK_LEAST_BYTES) ||
        options->stack_bytes > (size_t)1 << 40 || options->pin < -1 || options->pin > 1)
      return EINVAL;
    if (options->processors) processors = options->processors;
    if (options->stack_bytes) stack = options->stack_bytes;
    if (options->max_threads) threads = options->max_threads;
    if (options->spin_ns) spin = options->spin_ns;
    if (options->pin) pin = options->pin > 0;
  }
  number("QUARTZ_PROCESSORS", false, 1, QZI_SERIAL_STEP - 1, &processors);
  number("QUARTZ_STACK", true, STACK_LEAST_BYTES, UINT64_C(1) << 40, &stack);
  number("QUARTZ_MAX_THREADS", false, 1, UINT64_C(1) << 31, &threads);
  number("QUARTZ_SPIN_NS", false, 0, 1000000000, &spin);
  number("QUARTZ_PIN", false, 0, 1, &pin);
  qzi_runtime.processor_count = (unsigned)processors;
  qzi_runtime.stack_bytes = (stack + qzi_runtime.page_bytes - 1) / qzi_runtime.page_bytes * qzi_runtime.page_bytes;
  qzi_runtime.stack_half = qzi_runtime.stack_bytes / 2;
  qzi_runtime.max_threads = threads;
  /* with more processors than CPUs, a spinning processor would take the CPU from one that works */
  qzi_runtime.spin_ns = spin != UINT64_MAX ? (uint32_t)spin : processors > cpus ? 0 : SPIN_DEFAULT_NS;
  qzi_runtime.pin = pin == 2 ? processors <= cpus : pin == 1;
  return 0;
}
