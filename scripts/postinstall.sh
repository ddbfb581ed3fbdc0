#!/usr/bin/env bash
# What `npm ci` does after it has put the packages in place: Quartz is made ready to run.
set -euo pipefail
cd "$(dirname "$0")/.."
# `npx quartz` makes npm install this directory into a cache of its own, each time. Were that to fail here, npm would
# keep what it cannot read, and say nothing ever after. There is nothing to do: the command says itself if it is not
# built.
if [ "${npm_command:-}" = exec ]; then exit 0; fi
# A package that was made by scripts/packages.sh has all that it needs, and no sources.
[ -f CMakeLists.txt ] || exit 0
bash scripts/setup.sh
bash scripts/build.sh
