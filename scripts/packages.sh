#!/usr/bin/env bash
# Makes packages in build/packages, by one command:
#   packages.sh [ARCHITECTURE...]     x86_64, aarch64; default: this machine's, and aarch64 where its compiler is here
# Of each architecture (CPU is x64 or arm64, DEB amd64 or arm64):
#   quartz-profiler-linux-CPU-VERSION.tgz                 for npm: what is compiled, @quartz-profiler/linux-CPU
#   quartz-profiler_VERSION_DEB.deb                       sampler, pthread layer and thread package, without Node.js
#   quartz-profiler-VERSION-linux-ARCHITECTURE.tar.xz     the same, to be unpacked anywhere
# and of none:
#   quartz-profiler-VERSION.tgz                           for npm: all else; the others are its optional dependencies
#   quartz-profiler-VERSION-source.tar.xz                 what the recipes in packaging/ build from
# On Debian, aarch64 is cross-compiled (gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu) with the libraries of the suite
# that this machine's apt knows. The packages run on glibc from the version that is printed at the end on.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/build.sh
version=$(node -p 'require("./package.json").version')
machine=$(uname -m)
out=$PWD/build/packages
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export npm_config_update_notifier=false

quietly() { # quietly COMMAND...: its output is shown only when it fails
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}
cpu_of() { case $1 in x86_64) echo x64 ;; aarch64) echo arm64 ;; esac; }
deb_of() { case $1 in x86_64) echo amd64 ;; aarch64) echo arm64 ;; esac; }

architectures=("$@")
if [ $# = 0 ]; then
  architectures=("$machine")
  if [ "$machine" != aarch64 ] && command -v aarch64-linux-gnu-g++ apt-get dpkg >/dev/null 2>&1; then
    architectures+=(aarch64)
  fi
fi
for each in "${architectures[@]}"; do
  [ -n "$(cpu_of "$each")" ] || {
    echo "packages: no packages are made for $each; choose x86_64 or aarch64" >&2
    exit 2
  }
  [ "$each" = "$machine" ] || [ "$each" = aarch64 ] || {
    echo "packages: packages for $each are made on such a machine only; leave it out" >&2
    exit 2
  }
done

# What the native parts are linked with, of another architecture, in build-packages-ARCHITECTURE/libraries: apt has its
# own lists for it, so that the machine's stay as they are.
fetch_libraries() { # fetch_libraries DEB DIRECTORY
  local root=$2 state=$work/apt each
  [ ! -e "$root/done" ] || return 0
  mkdir -p "$root" "$state/lists/partial" "$state/archives/partial"
  : >"$state/status"
  local options=(-o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State=$state" -o "Dir::Cache=$state"
    -o "Dir::State::Status=$state/status" -o APT::Sandbox::User=root -o Debug::NoLocking=1)
  apt-get "${options[@]}" update >"$work/log" 2>&1 || true # some of the machine's sources may lack the architecture
  (cd "$state" && quietly apt-get "${options[@]}" download libdw-dev libdw1 libelf-dev libelf1 libiberty-dev zlib1g \
    liblzma5 libbz2-1.0)
  for each in "$state"/*.deb; do dpkg -x "$each" "$root"; done
  touch "$root/done"
}

# Builds the native parts of another architecture in a tree of their own, by cmake-js as build.sh does.
cross_build() { # cross_build ARCHITECTURE TREE
  local triple=$1-linux-gnu libraries=$PWD/$2/libraries
  fetch_libraries "$(deb_of "$1")" "$libraries"
  local places="-L$libraries/usr/lib/$triple -L$libraries/lib/$triple -Wl,-rpath-link,$libraries/lib/$triple"
  places="$places -Wl,-rpath-link,$libraries/usr/lib/$triple" headers="-isystem $libraries/usr/include"
  local js=(node_modules/.bin/cmake-js --out "$2" --config RelWithDebInfo --arch "$(cpu_of "$1")")
  if command -v ninja >/dev/null 2>&1; then js+=(--generator Ninja); else js+=(--generator "Unix Makefiles"); fi
  quietly "${js[@]}" configure -- -UCMAKE_LIBRARY_OUTPUT_DIRECTORY "-DCMAKE_TOOLCHAIN_FILE=$PWD/scripts/$1.cmake" \
    "-DCMAKE_C_FLAGS=$headers" "-DCMAKE_CXX_FLAGS=$headers" "-DCMAKE_EXE_LINKER_FLAGS=$places" \
    "-DCMAKE_SHARED_LINKER_FLAGS=$places" "-DCMAKE_MODULE_LINKER_FLAGS=$places"
  quietly cmake --build "$2" --parallel "$(nproc)" --target quartz_addon quartz-sampler quartz_pthread quartz_mpi \
    quartz_shared quartz_static
}

# Symbol versions that the compiled files need, the highest of those that begin so.
highest() { # highest DIRECTORY PREFIX
  find "$1" -type f \( -name 'quartz-sampler' -o -name '*.so*' -o -name '*.node' \) -exec objdump -T {} + 2>/dev/null |
    grep -o "\b$2[0-9.]*" | sort -Vu | tail -1
}

# Without Node.js: a folder, as a tarball and as a .deb. Zydis is in few distributions in this version: it comes along.
folder_of() { # folder_of ARCHITECTURE TREE FOLDER
  cmake --install "$2" --prefix "$3" --strip >/dev/null
  mkdir -p "$3/lib/quartz"
  if [ "$1" = x86_64 ]; then
    quietly cmake --build "$2" --target quartz-sampler-bundled
    install -s "$2/sampler/quartz-sampler-bundled" "$3/bin/quartz-sampler"
    ldd "$3/bin/quartz-sampler" | sed -n 's/.* => \(.*\/lib\(Zydis\|Zycore\)\.so[^ ]*\) .*/\1/p' |
      while read -r library; do cp -L "$library" "$3/lib/quartz/"; done
  fi
  rmdir --ignore-fail-on-non-empty "$3/lib/quartz"
}

deb_of_folder() { # deb_of_folder ARCHITECTURE FOLDER
  local root=$work/deb-$1 glibc libdw
  mkdir -p "$root/DEBIAN"
  cp -a "$2" "$root/usr"
  glibc=$(highest "$root" GLIBC_) libdw=$(highest "$root" ELFUTILS_0)
  # libelf1 and libdw1 are of one source; libstdc++ of gcc 11 has all symbols up to GLIBCXX_3.4.29.
  [ "$(printf '%s\n' GLIBCXX_3.4.29 "$(highest "$root" GLIBCXX_)" | sort -V | tail -1)" = GLIBCXX_3.4.29 ] || {
    echo "packages: libstdc++ of gcc 11 lacks symbols that are used; mend the Depends of the .deb" >&2
    exit 1
  }
  cat >"$root/DEBIAN/control" <<CONTROL
Package: quartz-profiler
Version: $version
Architecture: $(deb_of "$1")
Maintainer: the owner of this copy of Quartz <nobody@localhost>
Section: devel
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6 (>= ${glibc#*_}), libdw1 (>= ${libdw#*_}), libelf1 (>= ${libdw#*_}), libgcc-s1, libstdc++6 (>= 11)
Description: profiler for parallel programs: sampler, pthread layer, thread package
 Records which procedures, locks and threads cost elapsed time, and what other processors did at that time. Profiles are
 read by quartz report, which needs Node.js and is another package.
CONTROL
  quietly dpkg-deb --root-owner-group --build "$root" "$out/quartz-profiler_${version}_$(deb_of "$1").deb"
}

# For npm: what is compiled, where bin/quartz and the front end look for it.
npm_of_machine() { # npm_of_machine ARCHITECTURE TREE FOLDER
  local root=$work/npm-$1 strip=strip
  [ "$1" = "$machine" ] || strip=$1-linux-gnu-strip
  mkdir -p "$root/build/sampler" "$root/build/pthread-layer" "$root/build/mpi-layer" \
    "$root/build/threadlib" "$root/build/lib"
  install --strip-program="$strip" -s "$2/quartz_addon.node" "$root/build/quartz_addon.node"
  cp "$3/bin/quartz-sampler" "$root/build/sampler/"
  find "$3" -name libquartz-pthread.so -exec cp {} "$root/build/pthread-layer/" \;
  find "$3" -name libquartz-mpi.so -exec cp {} "$root/build/mpi-layer/" \;
  find "$3" -name libquartz.a -exec cp {} "$root/build/threadlib/" \;
  [ ! -d "$3/lib/quartz" ] || cp -r "$3/lib/quartz" "$root/build/lib/"
  node -e '
    const { writeFileSync } = require("node:fs");
    const [, root, cpu] = process.argv;
    const { name, version, license, engines, os } = require("./package.json");
    const its = { name: `@quartz-profiler/linux-${cpu}`, version, private: true, license, engines, os, cpu: [cpu],
      libc: ["glibc"], description: `What is compiled of ${name}, for linux-${cpu}` };
    writeFileSync(`${root}/package.json`, JSON.stringify(its, null, 2) + "\n");
    writeFileSync(`${root}/README.md`, `The compiled parts of ${name} for linux-${cpu}: install ${name}.\n`);
  ' "$root" "$(cpu_of "$1")"
  npm pack --ignore-scripts --silent --pack-destination "$out" "$root" >/dev/null
}

# For npm, all that is the same everywhere. It needs no install script, which npm 12 blocks and names.
npm_of_all() {
  npm pack --ignore-scripts --silent --pack-destination "$work" >/dev/null
  tar -C "$work" -xzf "$work"/quartz-profiler-*.tgz
  rm -rf "$work/package/build"
  node -e '
    const { readFileSync, writeFileSync } = require("node:fs");
    const file = process.argv[1];
    const { scripts, devDependencies, ava, ...kept } = JSON.parse(readFileSync(file, "utf8"));
    const compiled = ["x64", "arm64"].map((cpu) => [`@quartz-profiler/linux-${cpu}`, kept.version]);
    const its = { ...kept, files: kept.files.filter((one) => !one.startsWith("build/")), libc: ["glibc"],
      optionalDependencies: Object.fromEntries(compiled) };
    writeFileSync(file, JSON.stringify(its, null, 2) + "\n");
  ' "$work/package/package.json"
  npm pack --ignore-scripts --silent --pack-destination "$out" "$work/package" >/dev/null
}

npm_of_all
if git ls-files --error-unmatch CMakeLists.txt >/dev/null 2>&1; then
  git ls-files -z | tar --null -T - --transform "s|^|quartz-profiler-$version/|" --sort=name --owner=0 --group=0 \
    -cJf "$out/quartz-profiler-$version-source.tar.xz"
else
  echo "packages: this is no checkout of git, so no tarball of the sources was made" >&2
fi
for each in "${architectures[@]}"; do
  tree=build
  if [ "$each" != "$machine" ]; then
    tree=build-packages-$each
    echo "packages: building for $each"
    cross_build "$each" "$tree"
  fi
  folder=$work/quartz-profiler-$version-linux-$each
  folder_of "$each" "$tree" "$folder"
  tar -C "$work" --sort=name --owner=0 --group=0 -cJf "$out/${folder##*/}.tar.xz" "${folder##*/}"
  if command -v dpkg-deb >/dev/null 2>&1; then
    deb_of_folder "$each" "$folder"
  else
    echo "packages: there is no dpkg-deb (Debian package dpkg), so no .deb was made" >&2
  fi
  npm_of_machine "$each" "$tree" "$folder"
done
needed=$(highest "$work" GLIBC_)
(cd "$out" && ls -l | awk 'NR > 1 { print $5, $9 }')
echo "packages: in build/packages; they need ${needed/_/ } or newer"
