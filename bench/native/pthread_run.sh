#!/usr/bin/env bash
# What the pthread layer adds to lock and unlock of a free mutex (one mutex / a million in turn / making and destroying
# one of these), and recording to two threads that wake each other: alone, with the layer put in but nothing published,
# and recorded. pthread_run.sh [BUILD-DIRECTORY]; rounds are interleaved.
set -euo pipefail
build=$(realpath "${1:-$(dirname "$0")/../../build}")
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
for round in 1 2 3 4 5; do
  for what in lock wake; do
    program=$build/bench/native/bench_pthread_$what
    printf 'round %s, %s: alone %s, layer put in %s, recorded %s\n' "$round" "$what" "$("$program")" \
      "$(LD_PRELOAD=$build/pthread-layer/libquartz-pthread.so "$program")" \
      "$("$build/sampler/quartz-sampler" record -q -o "$profile" -- "$program")"
  done
done
