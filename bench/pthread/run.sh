#!/usr/bin/env bash
# What the pthread layer adds to lock and unlock of a free mutex: alone, with the layer put in but nothing published, and
# recorded: one mutex / a million in turn / making and destroying one of these. run.sh [BUILD-DIRECTORY]; rounds are interleaved.
set -euo pipefail
build=$(realpath "${1:-$(dirname "$0")/../../build}")
program=$build/bench/pthread/bench_pthread_lock
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
for round in 1 2 3 4 5; do
  printf 'round %s: alone %s, layer put in %s, recorded %s\n' "$round" "$("$program")" \
    "$(LD_PRELOAD=$build/pthread-layer/libquartz-pthread.so "$program")" \
    "$("$build/sampler/quartz-sampler" record -q -o "$profile" -- "$program")"
done
