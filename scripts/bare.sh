#!/usr/bin/env bash
# Does what README.md says in a bare Debian 12: a chroot with nothing but what the README asks for (gcc, cmake and this
# machine's Node.js), from a clean copy of this checkout. It has no /dev/shm, no /sys, no locale and no terminal.
#   1. as an ordinary user, who lacks packages: the first command fails, and says what root must install
#   2. as root: the README's first command, which installs them
#   3. as the user: both commands of the README
# usage: bare.sh [OPTION...]
#   --user         without step 2: root only installs what step 1 asked for
#   --root         without steps 1 and 3; both commands of the README as root
#   --times N      the README's last command, the tests, N times
#   --tests FILES  of these tests only FILES (dist/test/....test.js, with blanks in between)
#   --load N       beside N busy loops
#   --deny CALLS   where the kernel refuses these system calls: perf_event_open,ptrace,process_vm_readv
#   --keep         keeps the chroot, and says where it is
#   --in DIR       makes the chroot in DIR, or takes the one that is there; keeps it
# Needs root, debootstrap, and what the machine's own apt and npm are configured to use: their mirror, registry, proxies
# and certificates are carried in.
set -euo pipefail
cd "$(dirname "$0")/.."
suite=bookworm
asked=gcc,cmake # by the README

fail() {
  echo "bare: $1" >&2
  exit 1
}
number() { [[ ${2:-} =~ ^[0-9]+$ ]] || fail "$1 needs a number"; }

as_user=1 as_root=1 times=1 load=0 tests='' deny='' keep='' place=''
given=("$@")
while [ $# -gt 0 ]; do
  case $1 in
    --user) as_root='' ;;
    --root) as_user='' ;;
    --times) number "$@"; times=$2; shift ;;
    --tests) tests=${2:?"--tests needs files"}; shift ;;
    --load) number "$@"; load=$2; shift ;;
    --deny) deny=${2:?"--deny needs system calls"}; shift ;;
    --keep) keep=1 ;;
    --in) place=${2:?"--in needs a directory"}; keep=1; shift ;;
    *) fail "there is no option \"$1\"; those that are stand at the head of scripts/bare.sh" ;;
  esac
  shift
done
[ "$(id -u)" -eq 0 ] || fail "only root can make a chroot"
PATH=$PATH:/usr/sbin:/sbin
for tool in debootstrap node npm unshare ${deny:+cc}; do
  command -v "$tool" >/dev/null 2>&1 ||
    fail "$tool is not installed; scripts/setup.sh checks installs what the checks need"
done

# All of it happens in namespaces of its own: whatever ends this, no mount and no process is left.
if [ -z "${QUARTZ_BARE_ROOT:-}" ]; then
  if [ -n "$place" ]; then mkdir -p "$place"; else place=$(mktemp -d -t quartz-bare.XXXXXX); fi
  place=$(readlink -f "$place")
  # The machine's npm configuration is in there, and may hold secrets.
  chmod 700 "$place"
  [ -n "$keep" ] || trap 'rm -rf --one-file-system "$place"' EXIT
  status=0
  QUARTZ_BARE_ROOT=$place/root unshare --mount --pid --fork --kill-child -- \
    bash "$0" ${given[@]+"${given[@]}"} || status=$?
  [ -z "$keep" ] || echo "bare: the chroot is kept in $place/root"
  exit "$status"
fi
root=$QUARTZ_BARE_ROOT
unset QUARTZ_BARE_ROOT

# The mirror that this machine's apt takes the suite from, or any Debian from.
mirror() {
  apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(RELEASE) $(ORIGIN)' 'Created-By: Packages' |
    awk -v suite="$suite" '$2 == suite || $3 == suite { print $1; found = 1; exit } $4 == "Debian" { other = $1 }
                           END { if (!found && other != "") print other }'
}

make_chroot() {
  local mirror log=$root.log proxy=''
  mirror=$(mirror)
  [ -n "$mirror" ] || fail "this machine's apt knows no Debian mirror"
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  if [ -n "$proxy" ] && [ "$proxy" != DIRECT ]; then export http_proxy=$proxy; fi
  debootstrap --variant=minbase --include="$asked" "$suite" "$root" "$mirror" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    fail "debootstrap failed"
  }
  { apt-config dump Acquire::http; apt-config dump Acquire::https; } |
    grep -i proxy >"$root/etc/apt/apt.conf.d/90proxy" || true
  chroot "$root" useradd --create-home --shell /bin/bash user
  touch "$root/made"
}

# Node.js with npm, as this machine has them, where an archive of nodejs.org would put them.
put_node() {
  local node npm
  node=$(readlink -f "$(command -v node)")
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  mkdir -p "$root/usr/local/bin" "$root/usr/local/lib/node_modules" "$root/usr/local/etc"
  cp "$node" "$root/usr/local/bin/node"
  cp -a "$npm" "$root/usr/local/lib/node_modules/npm"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
  chroot "$root" node --version >/dev/null || fail "this machine's node does not run in $suite"
  # How npm reaches its registry: what this machine configures, but for its own places.
  for file in "$(npm config get globalconfig 2>/dev/null)" "$(npm config get userconfig 2>/dev/null)"; do
    [ ! -r "$file" ] || { cat "$file"; echo; }
  done | grep -vE '^ *(prefix|cache|nodedir|userconfig|globalconfig) *=' >"$root/usr/local/etc/npmrc" || true
}

# Files that certify the mirror and the registry to this machine, at the same paths.
put_certificates() {
  local file
  for file in "$(npm config get cafile 2>/dev/null)" "${NODE_EXTRA_CA_CERTS:-}" "${SSL_CERT_FILE:-}"; do
    case $file in
      /*) if [ -r "$file" ]; then mkdir -p "$root${file%/*}"; cp -L "$file" "$root$file"; fi ;;
    esac
  done
}

put_devices() {
  local name
  mount -t proc proc "$root/proc"
  for name in null zero full random urandom tty; do
    [ -e "$root/dev/$name" ] || : >"$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
  done
  rm -rf "$root/dev/shm"
  mkdir -p "$root/dev/pts"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
  ln -sf pts/ptmx "$root/dev/ptmx"
}

# The files of this checkout, as git would give them; where there is no git, all but what is built.
copy_of_checkout() { # copy_of_checkout USER: /home/USER/quartz or /root/quartz
  local home=/home/$1
  [ "$1" != root ] || home=/root
  rm -rf "$root$home/quartz"
  mkdir -p "$root$home/quartz"
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard |
      tar --null --files-from=- --ignore-failed-read -cf - 2>/dev/null
  else
    tar --exclude='./build*' --exclude=./dist --exclude=./node_modules --exclude=./.git -cf - .
  fi | tar -xf - -C "$root$home/quartz" --no-same-owner
  chroot "$root" chown -R "$1:" "$home/quartz"
}

# The two commands below "Try it".
mapfile -t commands < <(sed -n '/^## Try it/,/^## /s/^    \(npm .*\)/\1/p' README.md)
[ ${#commands[@]} -eq 2 ] || fail "README.md has ${#commands[@]} commands below \"Try it\", not 2"
[ -z "$tests" ] || commands[1]+=" -- $tests"

# in_chroot USER COMMAND: a shell's command in the user's copy, with the environment of a login and no terminal.
in_chroot() {
  local user=$1 home=/home/$1 name
  local -a login=(setpriv --reuid="$1" --regid="$1" --init-groups --)
  if [ "$1" = root ]; then home=/root login=(); fi
  local -a environment=("HOME=$home" "USER=$user" "LOGNAME=$user" SHELL=/bin/bash
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
  for name in NODE_EXTRA_CA_CERTS SSL_CERT_FILE http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY \
    $(compgen -e npm_config_ || true); do
    [ -z "${!name:-}" ] || environment+=("$name=${!name}")
  done
  local -a denied=()
  [ -z "$deny" ] || denied=(/denied "$deny")
  env -i "${environment[@]}" chroot "$root" setsid --wait ${denied[@]+"${denied[@]}"} ${login[@]+"${login[@]}"} \
    bash -c "cd $home/quartz && $2" </dev/null 2>&1 | cat
}

say() { echo "bare: $*"; }
timed() { # timed USER COMMAND
  local began=$SECONDS status=0
  say "as $1: $2"
  in_chroot "$1" "$2" || status=$?
  say "as $1: $2: status $status after $((SECONDS - began)) s"
  return "$status"
}

if [ ! -e "$root/made" ]; then
  say "making a bare $suite with $asked"
  make_chroot
fi
put_node
put_certificates
put_devices
for file in /etc/resolv.conf /etc/hosts; do [ ! -r "$file" ] || cp -L "$file" "$root$file"; done
if [ -n "$deny" ]; then
  # Here, and static: the chroot's gcc has no headers of the C library before step 1 has asked for them.
  cc -O1 -static -o "$root/denied" test/support/denied.c
fi
for ((k = 0; k < load; k++)); do (while :; do :; done) & done

failed=0
run() { timed "$@" || failed=$((failed + 1)); }
if [ -n "$as_user" ]; then
  copy_of_checkout user
  if said=$(in_chroot user "npm ci 2>&1"); then
    say "as user: npm ci: nothing was missing"
  else
    install=$(sed -n 's/.*run: sudo //p' <<<"$said" | head -n 1)
    [ -n "$install" ] || { echo "$said"; fail "a user's npm ci failed, and did not say what to install"; }
    say "as user: npm ci asks for: $install"
    # What a user tries next must say one line.
    for command in 'npx quartz demo' 'npm run demo' 'npm test' 'ts-frontend/bin/quartz --version'; do
      said=$(in_chroot user "$command") && fail "as user: $command: succeeded, though nothing is built"
      say "as user: $command: $(grep -v '^$' <<<"$said" | tail -n 1)"
    done
    [ -n "$as_root" ] || { copy_of_checkout root; in_chroot root "bash scripts/setup.sh"; }
  fi
fi
if [ -n "$as_root" ]; then
  copy_of_checkout root
  run root "${commands[0]}"
  if [ -z "$as_user" ]; then for ((k = 0; k < times; k++)); do run root "${commands[1]}"; done; fi
fi
if [ -n "$as_user" ]; then
  run user "${commands[0]}"
  for ((k = 0; k < times; k++)); do run user "${commands[1]}"; done
fi
[ "$failed" -eq 0 ] || fail "$failed commands failed"
