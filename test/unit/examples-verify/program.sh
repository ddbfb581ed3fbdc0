#!/bin/sh
# verify as a user runs it: every stage gives the same answers, with the exit status that the help promises.
# usage: program.sh VERIFY VERIFY_GENERATE ISCAS85_FOLDER (which need not exist) whole|short
verify=$1 generate=$2 iscas=$3 extent=$4
case $extent in
short) adder_widths=6 multiplier_widths=3 seeds=1 ;;
*) adder_widths="1 6 19" multiplier_widths="1 3 6" seeds="1 2 3 4" ;;
esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "$*" >&2
  failures=$((failures + 1))
}

# expect STATUS LAST_LINE ARGUMENTS...: in every stage
expect() {
  status=$1 line=$2
  shift 2
  for stage in initial nolog parallel-input tuned; do
    "$verify" --stage $stage --log "$work/trace" "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$status" ] || fail "stage $stage, $*: exit status $got, not $status: $(cat "$work/err")"
    grep -q "^$line" "$work/out" || fail "stage $stage, $*: no line '$line' in: $(cat "$work/out")"
  done
}

# refuse WORDS ARGUMENTS...: status 2 and one line with these words
refuse() {
  words=$1
  shift
  "$verify" "$@" >"$work/out" 2>"$work/err"
  got=$?
  [ $got -eq 2 ] || fail "$*: exit status $got, not 2"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: not one line: $(cat "$work/err")"
  grep -q "$words" "$work/err" || fail "$*: no '$words' in: $(cat "$work/err")"
}

cd "$work" || exit 1

for width in $adder_widths; do
  "$generate" adder:ripple:$width --output ripple
  for design in lookahead select kogge-stone; do
    "$generate" adder:$design:$width --output other || fail "adder:$design:$width"
    expect 0 "EQUAL: $((width + 1)) outputs equal, 0 different, 0 undecided" ripple other
    "$generate" adder:$design:$width --nand >other
    expect 0 "EQUAL: $((width + 1)) outputs equal, 0 different, 0 undecided" ripple other
  done
done
for width in $multiplier_widths; do
  "$generate" multiplier:array:$width --output array
  for design in wallace booth; do
    "$generate" multiplier:$design:$width --output other || fail "multiplier:$design:$width"
    expect 0 "EQUAL: $((width * 2)) outputs equal, 0 different, 0 undecided" array other
  done
done

"$generate" adder:ripple:8*2 multiplier:array:4 --output one
for seed in $seeds; do
  "$generate" adder:select:8*2 multiplier:booth:4 --mutate $seed --output other
  expect 1 "DIFFERENT: " one other
  expect 1 "counterexample for output " one other
done

# A product really is the product: 13 * 11 through constants in place of inputs.
"$generate" multiplier:wallace:4 | sed -e '/^INPUT/d' >constants
for bit in u0_a0 u0_a2 u0_a3 u0_b0 u0_b1 u0_b3; do echo "$bit = vdd"; done >>constants
for bit in u0_a1 u0_b2; do echo "$bit = gnd"; done >>constants
{ sed -n '/^OUTPUT/p' constants
  for bit in 0 1 2 3 7; do echo "u0_p$bit = vdd"; done; for bit in 4 5 6; do echo "u0_p$bit = gnd"; done; } >product
expect 0 "EQUAL: 8 outputs equal" constants product

# Limits: undecided, with status 3.
"$generate" multiplier:array:6 --output one
"$generate" multiplier:booth:6 --output other
expect 3 "UNDECIDED: " --limit 20 one other

# The trace log: a line for each gate of both circuits and for each cone; none where none is asked for.
"$generate" adder:ripple:4 --output one
rm -f verify.trace
"$verify" one one >/dev/null || fail "the default stage"
[ -s verify.trace ] || fail "the initial stage writes no verify.trace"
cones=$(grep -c "cone of" verify.trace)
gates=$(grep -c "is .*node" verify.trace)
[ "$cones" -eq 10 ] || fail "$cones cones in the log, not 10"
[ "$gates" -eq "$(($(grep -c "=" one) * 2))" ] || fail "$gates gates in the log"
rm -f verify.trace
"$verify" --stage nolog one one >/dev/null
[ ! -e verify.trace ] || fail "stage nolog writes a log"

# Names that differ: matched by position, or refused.
sed -e 's/u0_/other_/g' one >renamed
expect 0 "EQUAL: " one renamed
refuse "has no input other_a0" --match name one renamed
# Names in another order: by name.
{ grep INPUT one | sort -r; grep -v INPUT one; } >reordered
expect 0 "EQUAL: " one reordered

"$generate" adder:ripple:5 --output wide
refuse "one has 9 inputs and 5 outputs" one wide
refuse "missing: cannot be read" one missing
printf 'INPUT(a)\nOUTPUT(y)\ny = nonsense(a)\n' >bad
refuse "bad:3: unknown gate" bad one
refuse "bad:3: unknown gate" --stage parallel-input one bad
refuse "two circuits expected" one
refuse "unknown stage final" --stage final one one
refuse "cannot be written" --log /nonexistent/log one one
refuse "not 0;" --workers 0 one one
if [ -w /dev/full ]; then refuse "/dev/full: cannot be written" --log /dev/full one one; fi
"$generate" adder:ripple:0 2>err && fail "width 0 is accepted"
"$generate" adder:unknown:4 2>err && fail "an unknown design is accepted"

if [ -d "$iscas" ]; then
  expect 0 "EQUAL: 32 outputs equal" "$iscas/c499.bench" "$iscas/c1355.bench"
  for circuit in c17 c432 c880 c1908 c2670; do
    expect 0 "EQUAL: " "$iscas/$circuit.bench" "$iscas/$circuit.bench"
  done
fi

[ $failures -eq 0 ]
