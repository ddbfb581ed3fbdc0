#!/usr/bin/env bash
# Installs the Debian packages that Quartz needs and this machine lacks, where it may (root, or sudo that asks no
# password); else says in one line what to install. Does nothing where everything is there.
#   setup.sh          what building and running need
#   setup.sh peers    also what the benchmarks compare with, and what building that needs
#   setup.sh checks   also what the full checks need: nothing that Debian has is missing for a test (compilers, programs
#                     to record), debootstrap for scripts/bare.sh, DuckDB, and viewers of exports
set -euo pipefail

# Debian 12 has an older one. (The sampler and the thread package alone need none: cmake -S . -B build.)
oldest=20.19
if node=$(node --version 2>/dev/null); then
  newest=$(printf '%s\n' "v$oldest" "$node" | sort -V | tail -n 1)
  if [ "$newest" != "$node" ]; then
    echo "quartz: needs Node.js $oldest or newer, and this is $node;" \
      "install a newer one (https://nodejs.org), then run this again" >&2
    exit 1
  fi
fi

missing=()
need() { # need PACKAGE TEST...: the package goes on the list when the test fails
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
header() { echo "#include <$1>" | cc -E -x c -; }
has_maker() { command -v ninja || command -v make; }

need gcc command -v cc
need g++ command -v c++
need cmake command -v cmake
need ninja-build has_maker
need pkg-config command -v pkg-config
if command -v cc >/dev/null 2>&1; then
  need libdw-dev header elfutils/libdwfl.h
  need libiberty-dev header libiberty/demangle.h
  [ "$(uname -m)" != x86_64 ] || need libzydis-dev header Zydis/Zydis.h
else
  missing+=(libdw-dev libiberty-dev)
  [ "$(uname -m)" != x86_64 ] || missing+=(libzydis-dev)
fi
if [ "${1:-}" = checks ]; then
  need clang-format command -v clang-format
  need clang command -v clang
  need gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
  need g++-aarch64-linux-gnu command -v aarch64-linux-gnu-g++
  need libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdio.h
  need qemu-user command -v qemu-aarch64
  need pigz command -v pigz
  need pbzip2 command -v pbzip2
  need xz-utils command -v xz
  need zstd command -v zstd
  need sqlite3 command -v sqlite3
  need python3 command -v python3
  need chromium command -v chromium
  need memcached command -v memcached
  need redis-server command -v redis-server
  need prometheus command -v prometheus
  need libomp-dev sh -c 'ls /usr/lib/llvm-*/lib/libomp.so'
  need libtbb-dev test -e /usr/include/oneapi/tbb.h
  need golang-go command -v go
  need valgrind command -v callgrind_annotate
  need rustc command -v rustc
  need debootstrap sh -c 'PATH=$PATH:/usr/sbin command -v debootstrap'
  need mpich command -v mpiexec.mpich
  need libmpich-dev command -v mpicc.mpich
  need openmpi-bin command -v mpiexec.openmpi
  need libopenmpi-dev command -v mpicc.openmpi
fi

if [ "${1:-}" = peers ]; then
  need clang command -v clang
  need libomp-dev sh -c 'ls /usr/lib/llvm-*/lib/libomp.so'
  need libtbb-dev test -e /usr/include/oneapi/tbb.h
  need libboost-fiber-dev test -e /usr/include/boost/fiber/fiber.hpp
  need golang-go command -v go
  need uftrace command -v uftrace
  need linux-perf command -v perf
  need valgrind command -v valgrind
  need coz-profiler command -v coz
  need libgoogle-perftools-dev sh -c 'ls /usr/lib/*/libprofiler.so'
  need dpkg-dev command -v dpkg-source
  need tcl command -v tclsh
fi

# No Debian packages: what SQL over sets of profiles is tested with, and viewers that tests open exports in.
here=$(dirname "$0")/..
for each in ts-frontend/duckdb test/consumers; do
  [ "${1:-}" = checks ] && [ ! -d "$here/$each/node_modules" ] || continue
  echo "quartz: installing the packages of $each"
  # Where a registry lacks a platform's package npm ci refuses the whole list; npm install takes what there is.
  npm ci --prefix "$here/$each" --no-audit --no-fund >/dev/null 2>&1 ||
    npm install --prefix "$here/$each" --no-save --no-audit --no-fund >/dev/null || {
    echo "quartz: could not install them; run: npm install --prefix $here/$each" >&2
    exit 1
  }
done

[ ${#missing[@]} -eq 0 ] && exit 0

install="apt-get install -y --no-install-recommends ${missing[*]}"
if ! command -v apt-get >/dev/null 2>&1; then
  echo "quartz: needs what Debian calls: ${missing[*]};" \
    "install them with your system's packager, then run this again" >&2
  exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  echo "quartz: needs Debian packages that are not installed; run: sudo $install" >&2
  exit 1
fi
echo "quartz: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! "${as_root[@]}" $install >"$log" 2>&1; then
  # The package lists may be old or absent.
  if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" $install; } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    echo "quartz: could not install ${missing[*]}; install them by hand, then run this again" >&2
    exit 1
  fi
fi
