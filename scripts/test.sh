#!/usr/bin/env bash
# All tests: front end and end to end (ava), then native (CTest); the last line counts both.
#   test.sh [--no-skips] [ava arguments]: with ava arguments, only the front end's tests that they choose; with
#   --no-skips what is skipped has failed, but for what .ci/skips declares.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/setup.sh
bash scripts/build.sh checks
exec node dist/test/runner/main.js "$@"
