#!/usr/bin/env bash
# Cross-builds the native parts for aarch64 and runs the tests of the thread package under qemu-user.
# Needs gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu and qemu-user; says so in one line, and leaves out the check, where
# they are not installed.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64; do
  if ! command -v "$tool" >/dev/null 2>&1; then
    echo "quartz: aarch64 is not checked: no $tool; install gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu, qemu-user" >&2
    exit 0
  fi
done

log=$(mktemp)
trap 'rm -f "$log"' EXIT
{
  cmake -S . -B build-aarch64 -DCMAKE_TOOLCHAIN_FILE=scripts/aarch64.cmake
  cmake --build build-aarch64 --parallel "$(nproc)"
} >"$log" 2>&1 || { cat "$log"; exit 1; }
bash scripts/native-tests.sh build-aarch64 \
  --tests-regex '^(core_|sync\.|hooks_|publish_|sampler_loop_nest$|sampler_arm_poll_loop$)'
