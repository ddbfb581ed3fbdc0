#!/usr/bin/env bash
# What recording adds to whole programs that use threads: seconds of elapsed and of processor time, the medians of
# ROUNDS runs each of the program alone, with the layer put in but nothing published, and recorded (there its own, as
# the kernel reported: without what the sampler does before and after; the last moments may be missing); and
# what the report says that the run was slowed by. pthread_programs.sh [BUILD-DIRECTORY [ROUNDS]]; runs are interleaved.
# Programs that are not installed are left out.
set -euo pipefail
here=$(realpath "$(dirname "$0")/../..")
build=$(realpath "${1:-$here/build}") rounds=${2:-7}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
awk 'BEGIN { srand(1); for (k = 0; k < 300000; k++) 
  print int(rand() * 2147483647), "and some words that come again", int(rand() * 99) }' >"$directory/text"

# measure KIND COMMAND...: appends "elapsed processor" to KIND
measure() {
  local kind=$1 TIMEFORMAT='%R %U %S'
  shift
  { time "$@" >/dev/null 2>"$directory/errors"; } 2>"$directory/time"
  awk '{ print $1, $2 + $3 }' "$directory/time" >>"$directory/$kind"
}
# The first number of that name in the report; `share` stands in "cpuWait" first, then in "slowdown".
number() {
  local from='"elapsedNs"'
  [ "$1" = share ] && from='"slowdown"'
  sed -n "/$from/,\$s/^ *\"$1\": \([0-9.e+-]*\).*/\1/p" "$directory/report" | head -1
}
median() {
  sort -n -k "$2,$2" "$directory/$1" |
    awk -v column="$2" '{ all[NR] = $column } END { printf "%.3f", all[int((NR + 1) / 2)] }'
}

printf '%-24s %25s %25s %25s %s\n' program 'alone: elapsed, CPU s' 'layer put in' recorded 'report says'
while read -r command; do
  name=${command%% *}
  command -v "$name" >/dev/null || continue
  rm -f "$directory"/{alone,layer,recorded,said}
  for ((round = 0; round < rounds; round++)); do
    # shellcheck disable=SC2086
    {
      measure alone $command "$directory/text"
      measure layer env LD_PRELOAD="$build/pthread-layer/libquartz-pthread.so" $command "$directory/text"
      "$build/sampler/quartz-sampler" record -q -o "$directory/profile" -- $command "$directory/text" >/dev/null
      "$here/ts-frontend/bin/quartz" report --json "$directory/profile" >"$directory/report"
      printf '%s %s\n' "$(number elapsedNs)" "$(number runNs)" |
        awk '{ print $1 / 1e9, $2 / 1e9 }' >>"$directory/recorded"
      number share >>"$directory/said"
    }
  done
  printf '%-24s %12s, %11s %12s, %11s %12s, %11s %s\n' "$command" "$(median alone 1)" "$(median alone 2)" \
    "$(median layer 1)" "$(median layer 2)" "$(median recorded 1)" "$(median recorded 2)" \
    "$(median said 1 | awk '{ printf "+%.1f %%", 100 * $1 }')"
done <<'EOF'
pigz -p 4 -c
xz -T4 -1 -c
zstd -T4 -q -c
pbzip2 -p4 -c
EOF
