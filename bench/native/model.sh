#!/usr/bin/env bash
# The fast paths on CPUs that are not here: cycles that the units of a CPU need at least for the instructions of a path,
# by llvm-mca's models of them ("block reciprocal throughput"), and the stores in it. Callgrind says which instructions
# that are. Caches, mispredicted jumps and waits for one another are not in it: a lower bound, to compare versions by.
#   model.sh [BUILD [CPU...]]     CPU: as llvm-mca -mcpu names it; from LLVM 16 on it has a model of znver4, too
set -euo pipefail
build=${1:-$(dirname "$0")/../../build}
shift || true
program=$build/bench/native/bench_instructions
cpus=("$@")
[ ${#cpus[@]} -gt 0 ] || cpus=(znver2 znver3 skylake-avx512)
few=2000 many=22000 directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
for tool in valgrind llvm-mca objdump nm node; do
  command -v $tool >/dev/null || { echo "model.sh: $tool is missing; install it (llvm-mca: package llvm)" >&2; exit 1; }
done

objdump -d --no-show-raw-insn "$program" >"$directory/code"
nm "$program" >"$directory/symbols"

# The instructions of one turn, in the order of their addresses: both counts, and what is executed (many - few) times as
# often. Callgrind gives addresses as in the file, but for sections that it does not know: those as in memory.
cat >"$directory/path.mjs" <<'SCRIPT'
import { readFileSync } from 'node:fs';
const [directory, program, times] = process.argv.slice(2);
const lines = (name) => readFileSync(`${directory}/${name}`, 'utf8').split('\n');
const symbols = new Map(lines('symbols').map((line) => [line.slice(19), parseInt(line, 16)]));
function counted(name) {
  const known = new Map(), unknown = new Map();
  let into, procedure, skip = false, base = 0;
  for (const line of lines(name)) {
    if (line.startsWith('ob=')) into = line.endsWith(`/${program}`) ? known : line === 'ob=???' ? unknown : undefined;
    else if (line.startsWith('fn=')) procedure = line.slice(3);
    else if (line.startsWith('calls=')) skip = true;
    else if (line.startsWith('0x')) {
      const [address, , count] = line.split(' ').map(Number);
      if (!skip && into) into.set(address, (into.get(address) ?? 0) + count);
      if (!skip && into === unknown && symbols.has(procedure)) base ||= (address - symbols.get(procedure)) & ~0xfff;
      skip = false;
    }
  }
  for (const [address, count] of unknown) known.set(address - base, count);
  return known;
}
const few = counted('few'), many = counted('many');
for (const line of lines('code')) {
  const [place, text] = line.split(':\t');
  const at = parseInt(place, 16);
  if (text === undefined || !many.has(at)) continue;
  const turns = Math.round((many.get(at) - (few.get(at) ?? 0)) / Number(times));
  const plain = text.replace(/ *#.*/, '').replace(/^((?:j|call)[a-z]*) +[0-9a-f]+ <.*>$/, '$1 target');
  if (turns > 0) process.stdout.write(`${plain}\n`.repeat(turns));
}
SCRIPT

counted() { # counted FILE CASE N OPTION
  valgrind --tool=callgrind --collect-atstart=no --dump-instr=yes --compress-pos=no --compress-strings=no \
    --callgrind-out-file="$directory/$1" "$program" "$2" "$3" ${4:+"$4"} >/dev/null 2>&1
}
row() { # row NAME CASE PROCESSORS [OPTION]
  export QUARTZ_PROCESSORS=$3
  counted few "$2" $few "${4:-}"
  counted many "$2" $many "${4:-}"
  node "$directory/path.mjs" "$directory" "$(basename "$program")" $((many - few)) >"$directory/path.s"
  local stores='\(mov[a-z]*\|add[a-z]*\|sub[a-z]*\|or[a-z]*\|fnstcw\) .*)$\|^\(push\|call\)'
  printf '%-28s %12s %8s' "$1" "$(wc -l <"$directory/path.s")" "$(grep -c "$stores" "$directory/path.s")"
  local cpu
  for cpu in "${cpus[@]}"; do
    printf ' %14s' "$(llvm-mca -mcpu="$cpu" "$directory/path.s" 2>/dev/null |
      awk '/^Block RThroughput:/ { print $3 }')"
  done
  printf '\n'
}

printf '%-28s %12s %8s' "" instructions stores
printf ' %14s' "${cpus[@]}"
printf '\n'
row "spawn + sync" spawn_sync 1
row "spawn + sync, publishing" spawn_sync 1 --publish
row "create + join" create_join 1
row "yield among 2" yield 1
row "lock + unlock" lock_unlock 1
row "lock + unlock, publishing" lock_unlock 1 --publish
row "lock + unlock, 2 processors" lock_unlock 2
row "post + wait" post_wait 1
