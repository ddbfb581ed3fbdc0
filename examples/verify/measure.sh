#!/bin/bash
# Times every stage of verify on the circuits of inputs.sh, in turns, RUNS times each, and prints for each stage the
# medians: elapsed time, processor time, and elapsed time of each phase: the table of docs/evidence/case-study.md.
# usage: measure.sh VERIFY FOLDER PROCESSORS RUNS
set -e
verify=$1 folder=$2 processors=$3 runs=$4
results=$(mktemp)
trap 'rm -f "$results"' EXIT
TIMEFORMAT='time %R %U %S'
for _ in $(seq "$runs"); do
  for stage in initial nolog parallel-input tuned; do
    log=()
    [ $stage = initial ] && log=(--log "$folder/verify.trace")
    { time QUARTZ_PROCESSORS=$processors "$verify" --times --quiet --stage $stage "${log[@]}" \
      "$folder/first.bench" "$folder/second.bench" >/dev/null; } 2>&1 | sed "s/^/$stage /" >>"$results"
  done
done
median() { sort -n | awk '{ v[NR] = $1 } END { printf "%9.3f", (v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2 }'; }
echo "P = $processors, medians of $runs runs"
echo "stage            elapsed s     cpu s   read ms  cones ms  prove ms"
for stage in initial nolog parallel-input tuned; do
  printf '%-16s' $stage
  awk -v s=$stage '$1 == s && $2 == "time" { print $3 }' "$results" | median
  printf ' '
  awk -v s=$stage '$1 == s && $2 == "time" { print $4 + $5 }' "$results" | median
  for phase in read cones prove; do
    printf ' '
    awk -v s=$stage -v p=$phase '$1 == s && $2 == p { print $3 }' "$results" | median
  done
  echo
done
