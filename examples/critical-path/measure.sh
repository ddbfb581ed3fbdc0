#!/usr/bin/env bash
# Elapsed times of the programs here, nothing recorded, ms: least, median and greatest of so many runs, stages in turns.
#   measure.sh BUILD/examples/critical-path PROCESSORS RUNS
set -euo pipefail
cd "$1"
export QUARTZ_PROCESSORS=$2
stages=("quicksort serial" "quicksort parallel" "search --array 1024" "search --array 128" "matching list"
  "matching array" "knapsack each" "knapsack better")
times=$(for ((run = 0; run < $3; run++)); do
  for stage in "${stages[@]}"; do
    # shellcheck disable=SC2086
    echo "$stage: $(./$stage | sed -n 's/.*in \([0-9.]*\) ms.*/\1/p')"
  done
done)
for stage in "${stages[@]}"; do
  echo "$times" | sed -n "s/^$stage: //p" | sort -n |
    awk -v stage="$stage" '{t[NR] = $1}
      END {printf "%-22s %8.1f %8.1f %8.1f\n", stage, t[1], t[int((NR + 1) / 2)], t[NR]}'
done
