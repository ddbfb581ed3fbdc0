#!/usr/bin/env bash
# Makes the packages of this machine's architecture in build/packages:
#   quartz-profiler-VERSION.tgz            for npm install -g: all of Quartz, prebuilt, without its sources
#   quartz-profiler_VERSION_ARCH.deb       sampler, pthread layer and thread package, without Node.js
#   quartz-profiler-VERSION-linux-ARCH.tar.xz    the same, to be unpacked anywhere
# They run on glibc from the version that is told at the end on.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/build.sh
version=$(node -p 'require("./package.json").version')
architecture=$(uname -m)
out=$PWD/build/packages
rm -rf "$out"
mkdir -p "$out"

# What is packed needs no install script, which npm 12 blocks and names; and it is for machines like this one.
packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
npm pack --ignore-scripts --silent --pack-destination "$packed" >/dev/null
tar -C "$packed" -xzf "$packed"/*.tgz
node -e '
  const { readFileSync, writeFileSync } = require("node:fs");
  const file = process.argv[1];
  const { scripts, devDependencies, ava, ...kept } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...kept, cpu: [process.arch], libc: ["glibc"] }, null, 2) + "\n");
' "$packed/package/package.json"
npm pack --ignore-scripts --silent --pack-destination "$out" "$packed/package" >/dev/null

if command -v dpkg-shlibdeps >/dev/null 2>&1; then
  (cd build && cpack -G DEB >"$out/log" 2>&1) || { cat "$out/log" >&2; exit 1; }
  rm -rf "$out/log" "$out/_CPack_Packages"
else
  echo "packages: there is no dpkg-shlibdeps (Debian package dpkg-dev), so no .deb was made" >&2
fi

# Zydis is in few distributions in this version, so it comes along.
name=quartz-profiler-$version-linux-$architecture
stage=$(mktemp -d)
trap 'rm -rf "$packed" "$stage"' EXIT
cmake --install build --prefix "$stage/$name" --strip >/dev/null
cmake --build build --target quartz-sampler-bundled >/dev/null
install -s build/sampler/quartz-sampler-bundled "$stage/$name/bin/quartz-sampler"
mkdir -p "$stage/$name/lib/quartz"
ldd "$stage/$name/bin/quartz-sampler" | sed -n 's/.* => \(.*\/lib\(Zydis\|Zycore\)\.so[^ ]*\) .*/\1/p' |
  while read -r library; do cp -L "$library" "$stage/$name/lib/quartz/"; done
tar -C "$stage" --sort=name --owner=0 --group=0 -cJf "$out/$name.tar.xz" "$name"

needed=$(find "$stage/$name" -type f \( -name 'quartz-sampler' -o -name '*.so*' \) -exec objdump -T {} + 2>/dev/null |
  grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
(cd "$out" && ls -l | awk 'NR > 1 { print $5, $9 }')
echo "packages: in build/packages; they need ${needed/_/ } or newer"
