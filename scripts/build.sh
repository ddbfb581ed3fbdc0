#!/usr/bin/env bash
# Builds native parts and addon to build/, TypeScript to dist/. Prints only steps and what went wrong.
#   build.sh           what using Quartz needs
#   build.sh checks    also native tests, examples and benchmarks
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -x node_modules/.bin/tsc ]; then
  echo "quartz: the packages that building needs are not here; run: npm ci (in $PWD)" >&2
  exit 1
fi

quietly() { # quietly STEP COMMAND...: the command's output is shown only when it fails
  local step=$1 log
  shift
  log=$(mktemp)
  echo "quartz: $step"
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "quartz: $step failed; the lines above say why" >&2
    exit 1
  fi
  rm -f "$log"
}

if [ ! -e build/CMakeCache.txt ] && command -v ninja >/dev/null 2>&1; then export CMAKE_GENERATOR=Ninja; fi
quietly "configuring native parts" cmake -S . -B build -DQUARTZ_ADDON=ON
used="quartz_shared quartz_static quartz-sampler quartz_addon"
[ "${1:-}" = checks ] && used=all
# shellcheck disable=SC2086
quietly "building native parts" cmake --build build --parallel "$(nproc)" --target $used
quietly "compiling the front end" node_modules/.bin/tsc -b ts-frontend/tsconfig.json
