#!/bin/sh
# debug-tree.sh OBJCOPY BINARY TREE: puts the debug information of BINARY into TREE by its build id.
set -e
id=$(readelf -n "$2" | sed -n 's/.*Build ID: \([0-9a-f]*\).*/\1/p')
mkdir -p "$3/$(echo "$id" | cut -c1-2)"
"$1" --only-keep-debug "$2" "$3/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"
