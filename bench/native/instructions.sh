#!/usr/bin/env bash
# Instructions of the fast paths, exact, by valgrind's callgrind: not publishing, publishing, with work and span, and
# with two lanes of "what if". Those of the loop around them are taken off. On one processor; locks on two as well,
# where they use locked instructions.
#   instructions.sh [BUILD [CASE]...]
set -euo pipefail
build=${1:-$(dirname "$0")/../../build}
wanted=${*:2}
program=$build/bench/native/bench_instructions
few=1000 many=11000

counted() { # counted CASE N [--publish | --span | --what-if]
  valgrind --tool=callgrind --collect-atstart=no --callgrind-out-file=/dev/null "$program" "$@" 2>&1 |
    sed -n 's/.*Collected : //p'
}
each() { # each CASE [--publish | --span | --what-if]
  local case=$1
  shift
  echo $((($(counted "$case" $many "$@") - $(counted "$case" $few "$@")) / (many - few)))
}
if [ "$(counted loop $few)" -lt $few ]; then
  echo "instructions.sh: built without valgrind/callgrind.h, so there is nothing to count; install valgrind" >&2
  exit 1
fi
around=$(each loop)

row() { # row NAME CASE PROCESSORS
  if [ -n "$wanted" ] && [[ " $wanted " != *" $2 "* ]]; then return; fi
  export QUARTZ_PROCESSORS=$3
  local counts=() option
  for option in "" --publish --span --what-if; do
    counts+=($(($(each "$2" $option) - around)))
  done
  printf '%-30s %8s %12s %8s %10s\n' "$1" "${counts[@]}"
}

printf '%-30s %8s %12s %8s %10s\n' "" off publishing --span --what-if
row "create + join" create_join 1
row "create + join, 1,000 at once" create_many 1
row "spawn + sync" spawn_sync 1
row "spawn, taken by a processor" spawn_taken 1
row "yield among 2" yield 1
row "lock + unlock" lock_unlock 1
row "lock + unlock, 2 processors" lock_unlock 2
row "post + wait" post_wait 1
row "condition, round trip" cond 1
row "channel, round trip" channel 1
row "barrier of 8, a round" barrier 1
