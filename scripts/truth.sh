#!/usr/bin/env bash
# The bench of truth: see bench/truth/main.ts; with --generated: bench/truth/generated/main.ts.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -x node_modules/.bin/tsc ]; then
  echo "quartz: not built yet; run: npm ci (in $PWD)" >&2
  exit 125
fi
[ -e dist/bench/truth/main.js ] || bash scripts/build.sh checks
case " $* " in
*" --generated "*) exec node dist/bench/truth/generated/main.js "$@" ;;
*) exec node dist/bench/truth/main.js "$@" ;;
esac
