#!/usr/bin/env bash
# Builds native parts and addon to build/, TypeScript to dist/. Prints only steps and what went wrong.
#   build.sh           what using Quartz needs
#   build.sh checks    also native tests, examples and benchmarks
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -x node_modules/.bin/tsc ] || [ ! -x node_modules/.bin/cmake-js ]; then
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

# A newer checkout may name packages that are not here yet.
newer=$(node -p 'const { dependencies, devDependencies } = require("./package.json");
  const names = Object.keys({ ...dependencies, ...devDependencies });
  names.filter((name) => !fs.existsSync(`node_modules/${name}`)).join(" ")')
if [ -n "$newer" ]; then
  quietly "installing packages that are new ($newer)" npm install --no-save --ignore-scripts --no-audit --no-fund
fi
for tool in cc c++ cmake; do
  command -v "$tool" >/dev/null 2>&1 || {
    echo "quartz: there is no $tool; bash scripts/setup.sh installs what is missing, or says what to install" >&2
    exit 1
  }
done
# A tree that is there keeps its generator.
generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' build/CMakeCache.txt 2>/dev/null || true)
if [ -z "$generator" ]; then generator=$(command -v ninja >/dev/null 2>&1 && echo Ninja || echo "Unix Makefiles"); fi
cmake_js() { # cmake_js COMMAND [OPTIONS] [-- arguments for cmake]
  local command=$1
  shift
  node_modules/.bin/cmake-js "$command" --out build --config RelWithDebInfo --generator "$generator" "$@"
}
# Libraries stay in their rooms' folders, and flags are the user's (CXXFLAGS), not cmake-js's.
quietly "configuring native parts" cmake_js configure -- -UCMAKE_LIBRARY_OUTPUT_DIRECTORY -UCMAKE_CXX_FLAGS
others="quartz_shared quartz_static quartz-sampler"
[ "${1:-}" = checks ] && others=all
CMAKE_BUILD_PARALLEL_LEVEL=$(nproc)
export CMAKE_BUILD_PARALLEL_LEVEL
# shellcheck disable=SC2086
quietly "building native parts" cmake_js build --target quartz_addon -- $others
# esbuild takes the sources as they are; types are checked, and the modules for tests written, with the tests.
if [ "${1:-}" = checks ]; then
  quietly "compiling the front end" node_modules/.bin/tsc -b ts-frontend/tsconfig.json
  quietly "checking the script of pages" node_modules/.bin/tsc -p ts-frontend/src/html/browser/tsconfig.json
fi
# What a page of `quartz html` brings with it.
quietly "making the script of pages" node_modules/.bin/esbuild ts-frontend/src/html/browser/main.ts \
  ts-frontend/src/html/browser/page.css --bundle --minify --format=iife --target=es2022 --outdir=dist/page
# What `quartz` runs: a few files instead of hundreds, which Node.js would open and compile one by one at each start. A
# command's own code is in files of its own, and loaded only when it runs.
rm -rf dist/quartz
quietly "bundling the front end" node_modules/.bin/esbuild ts-frontend/src/main.ts --bundle --splitting --format=esm \
  --platform=node --target=node20 --packages=external --outdir=dist/quartz
