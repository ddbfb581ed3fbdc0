/* Which CPUs sampling threads get, on machines that the test makes up. */
#include "sampler/recording/cpu_placement.h"

#include <sched.h>
#include "test/support/fake_session.h"

static uint64_t usable; /* by CPU */
static int refused;
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask) {
  CHECK(pid == 0);
  if (refused) return -1;
  CPU_ZERO_S(bytes, mask);
  for (int cpu = 0; cpu < 64; cpu++)
    if (usable >> cpu & 1) CPU_SET_S((size_t)cpu, bytes, mask);
  return 0;
}

enum { FREE = -1 }; /* a processor that is on no CPU of its own */
static const struct {
  const char *what;
  uint64_t usable;
  int on[4]; /* CPUs of the program's processors; 0 after the last one */
  unsigned processors;
  int wanted, shared;
  unsigned cpus, spare, pinned;
  int spins;
  unsigned count;
  int chosen[3];
} cases[] = {
  {"a CPU is spare: the last one that no processor has", 0xf, {0, 1, 3}, 3, -1, 0, 4, 1, 3, 1, 1, {2}},
  {"two are: the last ones first", 0x3f, {0, 1, 2, 3}, 4, -1, 0, 6, 2, 4, 1, 2, {5, 4}},
  {"no more than are spare", 0xff, {FREE, FREE, FREE, FREE}, 4, -1, 0, 8, 4, 0, 1, 4, {7, 6, 5}},
  {"none is spare", 0x3, {0, 1}, 2, -1, 0, 2, 0, 2, 0, 0, {0}},
  {"fewer than processors", 0x1, {0, FREE}, 2, -1, 0, 1, 0, 1, 0, 0, {0}},
  {"the program shares its CPUs with others", 0xf, {0, 1}, 2, -1, 1, 4, 0, 2, 0, 0, {0}},
  {"one that the sampler may not use is not chosen", 0xb, {0, 1}, 2, -1, 0, 3, 1, 2, 1, 1, {3}},
  {"the user chose a free one", 0xf, {0, 1, 2}, 3, 3, 0, 4, 1, 3, 1, 1, {3}},
  {"the user chose one, and two are spare", 0xf, {0, 1}, 2, 3, 0, 4, 2, 2, 1, 2, {3, 2}},
  {"the user chose one that the program uses: it must not spin there", 0xf, {0, 1, 2}, 3, 1, 0, 4, 1, 3, 0, 1, {1}},
  {"the user chose one, and none is spare", 0x3, {0, 1}, 2, 1, 0, 2, 0, 2, 0, 1, {1}},
  {"two processors on one CPU", 0xf, {1, 1}, 2, -1, 0, 4, 2, 1, 1, 2, {3, 2}},
};

int main(void) {
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct fake fake = fake_make(cases[k].processors, 4, 4, 16);
    struct qz_session_view view;
    const char *why;
    if (cases[k].shared) fake.head->flags |= QZ_SESSION_SHARED;
    for (uint32_t p = 0; p < cases[k].processors; p++) fake_processor(&fake, p)->cpu = (uint32_t)cases[k].on[p];
    CHECK(!qz_session_open(&view, fake.fd, &why));
    usable = cases[k].usable;
    struct qzi_place place;
    qzi_place_find(&place, &view, cases[k].wanted);
    int same = place.cpus == cases[k].cpus && place.spare == cases[k].spare && !place.spins == !cases[k].spins &&
               place.count == cases[k].count;
    for (unsigned c = 0; same && c < place.count && c < 3; c++) same = place.chosen[c] == cases[k].chosen[c];
    if (!same) {
      fprintf(stderr, "%s: %u CPUs, %u spare, spins %d, %u chosen: %d %d\n", cases[k].what, place.cpus, place.spare,
              place.spins, place.count, place.chosen[0], place.chosen[1]);
      return 1;
    }
    CHECK_IS(qzi_place_pinned(&view), cases[k].pinned);
    refused = 1; /* then nothing is known, and none is chosen */
    qzi_place_find(&place, &view, cases[k].wanted);
    CHECK(!place.cpus && !place.spare && !place.count && !place.spins);
    refused = 0;
    qz_session_close(&view);
    fake_free(&fake);
  }
  return 0;
}
