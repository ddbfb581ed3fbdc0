#!/usr/bin/env bash
# Instructions of the fast paths, exact, by valgrind's callgrind: for each case, on one and on two processors, not publishing
# and publishing. Those of the loop around it are taken off.
#   instructions.sh [BUILD]
set -euo pipefail
build=${1:-$(dirname "$0")/../../build}
program=$build/bench/threads/bench_instructions
few=2000 many=22000

counted() { # counted CASE N [--publish]
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 | sed -n 's/.*Collected : //p'
}
each() { # each CASE [--publish]
  local case=$1
  shift
  echo $((($(counted "$case" $many "$@") - $(counted "$case" $few "$@")) / (many - few)))
}

printf '%-12s %10s %10s %12s %12s\n' "" "P=1" "P=2" "P=1 publ." "P=2 publ."
for case in create_join spawn_sync yield lock_unlock post_wait; do
  row=()
  for publish in "" --publish; do
    for processors in 1 2; do
      export QUARTZ_PROCESSORS=$processors
      # shellcheck disable=SC2086
      row+=($(($(each $case $publish) - $(each loop $publish))))
    done
  done
  printf '%-12s %10s %10s %12s %12s\n' "$case" "${row[@]}"
done
