#!/usr/bin/env bash
# Runs the native tests of a build folder: scripts/native-tests.sh FOLDER [OPTION OF CTEST ...]
# As in `npm test -- --again`, tests that failed are tried once more, without any other test at the same time; those
# that pass then are listed and count as passed. What a sanitizer reports is an error of the code even if it happens
# only now and then: such a failure stays a failure.
set -euo pipefail
folder=$1
shift

ctest --test-dir "$folder" --output-on-failure --no-tests=error --timeout 300 --parallel "$(nproc)" "$@" && exit 0

failed=$folder/Testing/Temporary/LastTestsFailed.log
log=$folder/Testing/Temporary/LastTest.log
reports='(ERROR|WARNING): [A-Za-z]*Sanitizer|runtime error: '
if grep -Eq "$reports" "$log"; then
  echo "quartz: not tried again, because a sanitizer reported an error; see $log" >&2
  exit 1
fi
names=$(cut -d: -f2 "$failed")
echo "== tried again: ${names//$'\n'/ }"
ctest --test-dir "$folder" --output-on-failure --timeout 300 --rerun-failed
echo "passed when tried again: ${names//$'\n'/ }"
