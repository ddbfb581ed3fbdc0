#!/usr/bin/env bash
# Benchmarks: see bench/main.ts.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -e dist/bench/main.js ]; then
  echo "quartz: not built yet; run: npm ci (in $PWD)" >&2
  exit 125
fi
exec node dist/bench/main.js "$@"
