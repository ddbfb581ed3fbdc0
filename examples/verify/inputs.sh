#!/bin/sh
# Makes the two circuits that the demo and the case study compare: first.bench and second.bench in FOLDER. Each is a data
# path of 50 adders and 4 multipliers; the designs differ, the functions don't.
# usage: inputs.sh VERIFY_GENERATE FOLDER
set -e
"$1" --output "$2/first.bench" "adder:ripple:32*50" "multiplier:array:8*4"
"$1" --output "$2/second.bench" "adder:kogge-stone:32*50" "multiplier:wallace:8*4"
