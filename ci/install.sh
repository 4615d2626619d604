#!/usr/bin/env bash
# Install quickchecks: the version of this action, or the one that was asked for.
set -euo pipefail
# shellcheck source=ci/common.sh
. "$GITHUB_ACTION_PATH/common.sh"
enter

case $INPUT_DECIDES in
eval | comparison | both) ;;
*)
    fail "the input decides is eval, comparison or both"
    ;;
esac

case $INPUT_RESULT in
*.[jJ][sS][oO][nN]) ;;
*)
    fail "$(printf 'the input result is a file that ends in .json, which can be compared, not %q' "$INPUT_RESULT")"
    ;;
esac

lines_of "${INPUT_PIP_ARGS:-}"
wanted=()
case ${INPUT_VERSION:-} in
none) ;;
'') wanted=("$GITHUB_ACTION_PATH/..") ;;
*[!0-9A-Za-z.+!]*)
    fail "the input version is a version such as 1.2.0, or none"
    ;;
*) wanted=("quickchecks==$INPUT_VERSION") ;;
esac

if [ "${#wanted[@]}" -gt 0 ] || [ "${#lines[@]}" -gt 0 ]; then
    "$INPUT_PYTHON" -P -m pip install --disable-pip-version-check \
        ${lines[@]+"${lines[@]}"} ${wanted[@]+"${wanted[@]}"}
fi
quickchecks --version
