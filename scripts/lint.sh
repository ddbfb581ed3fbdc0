#!/usr/bin/env bash
# What can be said of the sources without running them: ESLint, and whether all are formatted.
#   lint.sh          checks
#   lint.sh --fix    formats them
set -euo pipefail
cd "$(dirname "$0")/.."
prettier=--check clang_format='--dry-run --Werror'
if [ "${1:-}" = --fix ]; then prettier=--write clang_format=-i; fi
status=0
npx --no-install prettier --log-level warn $prettier $(git ls-files '*.ts' '*.js') || status=1
# Other versions break lines elsewhere.
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
  # shellcheck disable=SC2086
  git ls-files '*.c' '*.h' '*.cc' '*.cpp' | xargs clang-format $clang_format || status=1
else
  echo "lint: no clang-format 14 here: C and C++ were not checked" >&2
fi
npx --no-install eslint . || status=1
exit $status
