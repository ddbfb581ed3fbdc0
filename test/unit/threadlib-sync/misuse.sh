#!/bin/sh
# misuse.sh EMULATOR PROGRAM CASE PATTERN: the program is ended by abort, after exactly one line that matches the
# pattern.
exec 3>&1
emulator=$(printf '%s' "$1" | tr ';' ' ')
shift
# shellcheck disable=SC2086 # the emulator comes with its arguments, or is empty
output=$($emulator "$1" "$2" 2>&1)
status=$?
[ "$status" -eq 134 ] || { echo "status $status, expected 134 (abort): $output"; exit 1; }
lines=$(printf '%s\n' "$output" | grep -c '^quartz: ')
[ "$lines" -eq 1 ] || { echo "not one line: $output"; exit 1; }
printf '%s\n' "$output" | grep -Eq -- "$3" || { echo "does not match $3: $output"; exit 1; }
