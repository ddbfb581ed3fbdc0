#!/bin/sh
# Builds a program against the package by pkg-config and by find_package, from the build tree and from an installation.
# usage: package.sh BUILD C_COMPILER CMAKE
set -eu
build=$1 cc=$2 cmake=$3
export CMAKE_GENERATOR="$4" # what is known to be here
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat > "$dir/main.c" <<'C'
#include <quartz/quartz.h>
static void *add(void *arg) { return (void *)((long)arg + 1); }
int main(void) {
  qz_thread_t thread;
  void *result;
  return qz_create(&thread, "adds", add, (void *)41) || qz_join(thread, &result) || (long)result != 42;
}
C
cat > "$dir/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(quartz REQUIRED)
foreach(library quartz quartz-static)
  add_executable(user_${library} main.c)
  target_link_libraries(user_${library} quartz::${library})
  add_executable(hooked_${library} main.c)
  target_link_libraries(hooked_${library} quartz::${library} quartz::hooks)
endforeach()
enable_testing()
quartz_add_test(NAME recorded COMMAND hooked_quartz "an argument")
quartz_add_test(NAME elsewhere WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" PROFILE "a name.quartz" CONFIGURATIONS Debug
                COMMAND sh -c "test -e main.c" COMMAND_EXPAND_LISTS)
C
"$cmake" --install "$build" --prefix "$dir/installed" > "$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
libdir=$(dirname "$(find "$dir/installed" -name libquartz.a)")
for prefix in "$build/package" "$dir/installed"; do
  "$cmake" -S "$dir" -B "$dir/cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" > "$dir/log" 2>&1 &&
    "$cmake" --build "$dir/cmake" > "$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
  for user in user_quartz user_quartz-static hooked_quartz hooked_quartz-static; do "$dir/cmake/$user"; done
  # Hooks are in the code that was asked to have them, and in no other.
  nm "$dir/cmake/hooked_quartz" | grep -Eq 'quartz_hooks|__fentry__|__cyg_profile' || { echo "no hooks"; exit 1; }
  ! nm "$dir/cmake/user_quartz" | grep -Eq 'quartz_hooks|__fentry__|__cyg_profile' || { echo "hooks unasked"; exit 1; }
  # A test that is recorded leaves a profile, and passes as it does alone.
  (cd "$dir/cmake" && "$(dirname "$cmake")/ctest" -R recorded > "$dir/log" 2>&1) || { cat "$dir/log"; exit 1; }
  [ -s "$dir/cmake/recorded.quartz" ] && [ ! -e "$dir/cmake/a name.quartz" ] ||
    { echo "no profile of the test"; exit 1; }
  (cd "$dir/cmake" && "$(dirname "$cmake")/ctest" -C Debug -R elsewhere > "$dir/log" 2>&1) ||
    { cat "$dir/log"; exit 1; }
  [ -s "$dir/cmake/a name.quartz" ] || { echo "no profile of the test in another directory"; exit 1; }
  rm -rf "$dir/cmake"
done
export PKG_CONFIG_PATH="$build/package"
"$cc" "$dir/main.c" $(pkg-config --cflags --libs quartz) -o "$dir/a" && "$dir/a"
export PKG_CONFIG_PATH="$libdir/pkgconfig"
"$cc" "$dir/main.c" $(pkg-config --define-variable=prefix="$dir/installed" --define-variable=libdir="$libdir" \
  --define-variable=includedir="$dir/installed/include" --cflags --libs quartz) -o "$dir/a" && "$dir/a"
