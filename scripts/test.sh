#!/usr/bin/env bash
# All tests: front end and end to end (ava), then native (CTest).
#   test.sh [ava arguments]: with arguments, only the front end's tests that they choose.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/build.sh checks
node_modules/.bin/ava "$@"
[ $# -gt 0 ] || ctest --test-dir build --output-on-failure --no-tests=error --parallel "$(nproc)"
