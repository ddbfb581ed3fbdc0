#!/usr/bin/env bash
# Fetches the sources of the whole programs that the benchmark `programs` runs (Lua, bzip2, zlib, SQLite) from where
# this machine gets its Debian packages, into build/bench-peers/sources. The package lists used are its own: the
# machine's are left as they are.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/build/bench-peers
fetch=$work/fetch
mkdir -p "$fetch/lists/partial" "$work/sources"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
fails() {
  tail -n 10 "$log" >&2
  echo "quartz: bench: $1; the rows of these programs will be missing" >&2
  exit 1
}

missing=()
for name in lua5.4 bzip2 zlib sqlite3; do [ -e "$work/sources/$name" ] || missing+=("$name"); done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
echo "quartz: bench: fetching the sources of ${missing[*]}"

# The site and release of the main Debian archive that apt uses here.
read -r site release < <(apt-get indextargets --format '$(SITE) $(CODENAME) $(ORIGIN) $(COMPONENT) $(IDENTIFIER)' |
  awk '$3 == "Debian" && $4 == "main" && $5 == "Packages" && $2 !~ /-/ { print $1, $2; exit }') ||
  { echo "no Debian archive among apt's sources" >"$log"; fails "no Debian archive is known"; }
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keys" ] && trust="[signed-by=$keys] "
echo "deb-src ${trust:-}$site $release main" >"$fetch/sources.list"
options=(-o "Dir::Etc::SourceList=$fetch/sources.list"
  -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$fetch/lists"
  -o APT::Sandbox::User=root)
apt-get "${options[@]}" update >"$log" 2>&1 || fails "apt-get update failed"
for name in "${missing[@]}"; do
  rm -rf "$fetch/$name" && mkdir "$fetch/$name"
  (cd "$fetch/$name" && apt-get "${options[@]}" source --only-source "$name") >"$log" 2>&1 ||
    fails "the source of $name could not be fetched"
  mv "$(find "$fetch/$name" -mindepth 1 -maxdepth 1 -type d)" "$work/sources/$name"
done

# Debian's build of Lua makes this file.
echo '#define DEB_HOST_MULTIARCH ""' >"$work/sources/lua5.4/src/lua5.4-deb-multiarch.h"
# SQLite is distributed as parts; its own makefile joins them.
if [ ! -e "$work/sources/sqlite3/sqlite3.c" ]; then
  (cd "$work/sources/sqlite3" && ./configure && make sqlite3.c shell.c) >"$log" 2>&1 ||
    fails "the parts of SQLite could not be joined"
fi
