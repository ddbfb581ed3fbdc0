#!/bin/sh
# usage: ends.sh PROGRAM MODE STATUS PATTERN...: runs the mode, wants its status and, in its output, every pattern
set -u
program=$1 mode=$2 want=$3
shift 3
output=$("$program" "$mode" 2>&1)
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
