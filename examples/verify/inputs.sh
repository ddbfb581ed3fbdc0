#!/bin/sh
# Makes the two circuits that the demo and the case study compare: first.bench and second.bench in FOLDER. Each is a
# data path of 4 multipliers and 60 adders; the designs differ, the functions don't.
# usage: inputs.sh VERIFY_GENERATE FOLDER
set -e
"$1" --output "$2/first.bench" "multiplier:array:8*4" "adder:ripple:32*60"
"$1" --output "$2/second.bench" "multiplier:wallace:8*4" "adder:kogge-stone:32*60"
