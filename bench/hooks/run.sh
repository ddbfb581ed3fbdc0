#!/usr/bin/env bash
# Cost of hooks, ns for each call beyond the call itself, beside gprof's, in one run: off (nobody samples) and publishing
# (`hold.py` holds a connection and samples nothing). Rounds are interleaved; medians of rounds.
#   bench/hooks/run.sh [BUILD-DIRECTORY] [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
rounds=${2:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export QUARTZ_BUILD=$PWD/$build
lib=$build/threadlib/libquartz.a
source=bench/hooks/micro.c
: >"$work/init.c"
echo 'int qz_init(const void *); __attribute__((used)) int (*keep)(const void *) = qz_init;' >"$work/init.c"

variant() { # variant NAME COMPILER "FLAGS" "LIBRARIES"
  # shellcheck disable=SC2086
  $2 -O2 -fno-inline -fno-optimize-sibling-calls -w $3 "$source" -o "$work/$1" $4 # or fib is inlined, or made a loop, where it has no hooks
  names+=("$1")
}
names=()
variant none gcc "" ""
variant gprof gcc "-pg" ""
variant gcc_default gcc "-finstrument-functions" "$work/init.c $lib -pthread"
variant gcc_best gcc "$(scripts/quartz-flags cflags --cc gcc)" "$work/init.c $lib -pthread"
variant gcc_best_shared gcc "$(scripts/quartz-flags cflags --cc gcc)" "$(scripts/quartz-flags libs --shared)"
if command -v clang >/dev/null; then variant clang_best clang "$(scripts/quartz-flags cflags --cc clang)" "$work/init.c $lib -pthread"; fi

for ((round = 0; round < rounds; round++)); do
  for name in "${names[@]}"; do
    (cd "$work" && "./$name" >>"$work/off.$name")
    case $name in none | gprof) ;; *) (cd "$work" && python3 "$OLDPWD/bench/hooks/hold.py" "./$name" >>"$work/on.$name") ;; esac
  done
done
python3 - "$work" "${names[@]}" <<'PYTHON'
import statistics, sys, os
work, names = sys.argv[1], sys.argv[2:]
def read(kind, name):
    path = f"{work}/{kind}.{name}"
    if not os.path.exists(path): return None
    rows = [list(map(float, line.split())) for line in open(path)]
    return [statistics.median(column) for column in zip(*rows)]
base, gprof = read("off", "none"), None
gprof = [x - y for x, y in zip(read("off", "gprof"), base)]
print("%-28s %8s %8s %8s   ratio to gprof" % ("ns added for each call", "leaf", "fib", "tree"))
print("%-28s %8.2f %8.2f %8.2f" % ("gprof -pg", *gprof))
for name in names[2:]:
    for kind, text in (("off", "off"), ("on", "publishing")):
        added = [x - y for x, y in zip(read(kind, name), base)]
        ratios = [x / y for x, y in zip(added, gprof)]
        print("%-28s %8.2f %8.2f %8.2f   %.2f %.2f %.2f" % (f"{name}, {text}", *added, *ratios))
PYTHON
