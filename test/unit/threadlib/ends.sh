#!/bin/sh
# usage: ends.sh EMULATOR PROGRAM MODE STATUS PATTERN...: runs the mode, wants its status and, in its output, every
# pattern
set -u
emulator=$(printf '%s' "$1" | tr ';' ' ') program=$2 mode=$3 want=$4
shift 4
# shellcheck disable=SC2086 # the emulator comes with its arguments, or is empty
output=$($emulator "$program" "$mode" 2>&1)
status=$?
for pattern in "$@"; do
  if ! printf '%s\n' "$output" | grep -Eq "$pattern"; then
    printf 'no "%s" in:\n%s\n' "$pattern" "$output"
    exit 1
  fi
done
if [ "$status" != "$want" ]; then
  printf 'status %s, not %s:\n%s\n' "$status" "$want" "$output"
  exit 1
fi
