#!/usr/bin/env bash
# conformance.sh SAMPLER LAYER PROGRAM WAY...: the program's lines and exit status, for each way to call it, without the
# layer, with it, and recorded.
set -u
sampler=$1 layer=$2 program=$3
shift 3
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failed=0
for way in "$@"; do
  ( ulimit -c 0; exec timeout 300 "$program" "$way" ) >"$directory/plain" 2>"$directory/plain.err"
  plain=$?
  ( ulimit -c 0; exec env LD_PRELOAD="$layer" timeout 300 "$program" "$way" ) \
    >"$directory/layer" 2>"$directory/layer.err"
  layered=$?
  ( ulimit -c 0; exec timeout 300 "$sampler" record -q -o "$directory/profile" -- "$program" "$way" ) \
    >"$directory/recorded" 2>"$directory/recorded.err"
  recorded=$?
  if [ $plain -ge 124 ] && [ "$way" != abort ]; then echo "$way: the program itself failed: $plain"; failed=1; fi
  for kind in layer recorded; do
    diff -u "$directory/plain" "$directory/$kind" || failed=1
    diff -u "$directory/plain.err" "$directory/$kind.err" || failed=1
  done
  if [ $layered -ne $plain ] || [ $recorded -ne $plain ]; then
    echo "$way: exit status $plain, with the layer $layered, recorded $recorded"
    failed=1
  fi
  [ -s "$directory/profile" ] || { echo "$way: no profile"; failed=1; }
done
exit $failed
