#!/bin/sh
# go.sh GO TEST DIRECTORY: builds a Go program with and without a symbol table, and position-independent, and compares
# what TEST finds in them.
set -e
mkdir -p "$3"
cd "$3"
[ -n "$HOME" ] && [ -w "$HOME" ] || export GOCACHE="$3/cache"
export GO111MODULE=off CGO_ENABLED=0
printf 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("built") }\n' >program.go
for mode in exe pie; do
  "$1" build -buildmode=$mode -o $mode program.go
  "$1" build -buildmode=$mode -ldflags=-s -o $mode-stripped program.go
  "$2" $mode $mode-stripped
  "$2" $mode $mode-stripped fffffff1
done
