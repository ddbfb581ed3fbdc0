#!/usr/bin/env bash
# Benchmarks: see bench/main.ts.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -x node_modules/.bin/tsc ]; then
  echo "quartz: not built yet; run: npm ci (in $PWD)" >&2
  exit 125
fi
[ -e dist/bench/main.js ] || bash scripts/build.sh checks
exec node dist/bench/main.js "$@"
