/* Work and span of oneTBB's tasks, each case by its name: see ../span-tbb.test.ts. Prints work and span in units, and
 * the same in ns of processor time, which each task measures of itself. */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>
#include <oneapi/tbb.h>
#define UNITS_ALONE
#include "units.h"

namespace {
struct chain {
  uint64_t work, span;
};
chain counted, measured;

PROCEDURE uint64_t alone(uint64_t count) { return units_ns(count); }
PROCEDURE uint64_t part(uint64_t count) { return units_ns(count); }

chain after(chain first, chain second) { return {first.work + second.work, first.span + second.span}; }
chain beside(chain one, chain other) { return {one.work + other.work, std::max(one.span, other.span)}; }
chain strand(uint64_t ns) { return {ns, ns}; }
chain all_of(const std::vector<uint64_t> &ns) {
  chain all{};
  for (uint64_t its : ns) all = beside(all, strand(its));
  return all;
}
using range = tbb::blocked_range<size_t>;
const tbb::simple_partitioner pieces;

/* 100 alone, and a loop of 32 pieces of 25: work 900, span 125. */
void loop() {
  std::vector<uint64_t> ns(32);
  uint64_t begun = alone(100);
  tbb::parallel_for(
    range(0, 32), [&](const range &its) { ns[its.begin()] = part(25); }, pieces);
  measured = after(strand(begun), all_of(ns));
  counted = {900, 125};
}

/* Each round 30 beside 10, then 10 alone: work 1000, span 800. */
void uneven() {
  for (int round = 0; round < 20; round++) {
    uint64_t longer = 0, shorter = 0;
    tbb::task_group group;
    group.run([&] { longer = part(30); });
    group.run([&] { shorter = part(10); });
    group.wait();
    measured = after(measured, after(beside(strand(longer), strand(shorter)), strand(alone(10))));
  }
  counted = {1000, 800};
}

/* A tree of groups that wait for theirs, 63 of 20: work 1260, span 120. */
chain grow(int depth) {
  chain own = strand(part(20)), left{}, right{};
  if (depth == 0) return own;
  tbb::task_group group;
  group.run([&] { left = grow(depth - 1); });
  group.run_and_wait([&] { right = grow(depth - 1); });
  return after(own, beside(left, right));
}
void tree() {
  measured = grow(5);
  counted = {63 * 20, 6 * 20};
}

/* Ten times 10, 20 and 30 beside each other, after 10 alone: work 700, span 400. */
void invoke() {
  for (int round = 0; round < 10; round++) {
    std::vector<uint64_t> ns(3);
    uint64_t begun = alone(10);
    tbb::parallel_invoke([&] { ns[0] = part(10); }, [&] { ns[1] = part(20); }, [&] { ns[2] = part(30); });
    measured = after(measured, after(strand(begun), all_of(ns)));
  }
  counted = {700, 400};
}

/* Twice 50 alone and a reduction of 16 pieces of 25: work 900, span 150. */
void reduce() {
  for (int round = 0; round < 2; round++) {
    uint64_t begun = alone(50);
    chain all = tbb::parallel_reduce(
      range(0, 16), chain{}, [](const range &, chain so_far) { return beside(so_far, strand(part(25))); }, beside,
      pieces);
    measured = after(measured, after(strand(begun), all));
  }
  counted = {900, 150};
}

/* 20 items: 10 in order, then 20 beside each other, then 5 in order: work 700, span 225. */
void pipeline() {
  std::vector<uint64_t> in(20), beside_others(20), out(20);
  size_t next = 0;
  tbb::parallel_pipeline(
    20, tbb::make_filter<void, size_t>(tbb::filter_mode::serial_in_order,
                                       [&](tbb::flow_control &control) -> size_t {
                                         if (next == 20) {
                                           control.stop();
                                           return 0;
                                         }
                                         in[next] = part(10);
                                         return next++;
                                       }) &
          tbb::make_filter<size_t, size_t>(tbb::filter_mode::parallel,
                                           [&](size_t k) {
                                             beside_others[k] = part(20);
                                             return k;
                                           }) &
          tbb::make_filter<size_t, void>(tbb::filter_mode::serial_in_order, [&](size_t k) { out[k] = part(5); }));
  uint64_t came = 0, went = 0;
  for (size_t k = 0; k < 20; k++) {
    measured.work += in[k] + beside_others[k] + out[k];
    came += in[k];
    went = std::max(went, came + beside_others[k]) + out[k];
  }
  measured.span = went;
  counted = {700, 225};
}

/* Ten messages to a node that may execute several at once (20), and from there to one that may not (30): work 500,
 * span 320. */
void graph() {
  std::vector<uint64_t> first(10), then(10);
  std::vector<size_t> order;
  tbb::flow::graph all;
  tbb::flow::function_node<size_t, size_t> several(all, tbb::flow::unlimited, [&](size_t k) {
    first[k] = part(20);
    return k;
  });
  tbb::flow::function_node<size_t> one(all, tbb::flow::serial, [&](size_t k) {
    order.push_back(k);
    then[k] = part(30);
    return tbb::flow::continue_msg();
  });
  tbb::flow::make_edge(several, one);
  for (size_t k = 0; k < 10; k++) several.try_put(k);
  all.wait_for_all();
  for (size_t k : order) {
    measured.work += first[k] + then[k];
    measured.span = std::max(measured.span, first[k]) + then[k];
  }
  counted = {500, 320};
}

/* A loop of 8 pieces of 10, in each of which there is one of 4 pieces of 10: work 400, span 20. */
void nested() {
  std::vector<uint64_t> outer(8);
  std::vector<std::vector<uint64_t>> inner(8, std::vector<uint64_t>(4));
  tbb::parallel_for(
    range(0, 8),
    [&](const range &its) {
      size_t k = its.begin();
      outer[k] = part(10);
      tbb::parallel_for(
        range(0, 4), [&, k](const range &further) { inner[k][further.begin()] = part(10); }, pieces);
    },
    pieces);
  for (size_t k = 0; k < 8; k++) measured = beside(measured, after(strand(outer[k]), all_of(inner[k])));
  counted = {400, 20};
}

/* Ten groups of two tasks, each of which leaves another one behind, 10 each; and 10 alone: work 500, span 300. */
void groups() {
  for (int round = 0; round < 10; round++) {
    uint64_t first[2] = {}, second[2] = {};
    tbb::task_group group;
    for (int k = 0; k < 2; k++)
      group.run([&, k] {
        first[k] = part(10);
        group.run([&, k] { second[k] = part(10); });
      });
    group.wait();
    chain both = beside(after(strand(first[0]), strand(second[0])), after(strand(first[1]), strand(second[1])));
    measured = after(measured, after(both, strand(alone(10))));
  }
  counted = {500, 300};
}

/* Ten times two tasks that end with an exception, which is caught, 10 and 20, and then 10 alone: work 400, span 300. */
void thrown() {
  for (int round = 0; round < 10; round++) {
    uint64_t longer = 0, shorter = 0;
    tbb::task_group group;
    try {
      group.run([&] {
        longer = part(20);
        throw std::runtime_error("longer");
      });
      group.run_and_wait([&] { shorter = part(10); });
    } catch (const std::runtime_error &) {}
    measured = after(measured, after(beside(strand(longer), strand(shorter)), strand(alone(10))));
  }
  counted = {400, 300};
}
} // namespace

int main(int count, char **words) {
  static const struct {
    const char *name;
    void (*run)();
  } cases[] = {{"loop", loop},         {"uneven", uneven}, {"tree", tree},     {"invoke", invoke}, {"reduce", reduce},
               {"pipeline", pipeline}, {"graph", graph},   {"nested", nested}, {"groups", groups}, {"thrown", thrown}};
  tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
  for (const auto &its : cases) {
    if (count < 2 || std::strcmp(words[1], its.name) != 0) continue;
    its.run();
    std::printf("%llu %llu\n", (unsigned long long)counted.work, (unsigned long long)counted.span);
    std::printf("%llu %llu\n", (unsigned long long)measured.work, (unsigned long long)measured.span);
    return 0;
  }
  return 2;
}
