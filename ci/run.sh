#!/usr/bin/env bash
# Run the eval. One that fails does not end the job here: the comparison comes first, and then decide.sh.
set -euo pipefail
# shellcheck source=ci/common.sh
. "$GITHUB_ACTION_PATH/common.sh"
enter

folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/quickchecks.XXXXXX")
report=$folder/report.md

# Where the comparison decides, what the eval finds is forgiven.
if [ "$INPUT_DECIDES" = comparison ]; then
    export QUICKCHECKS_GITHUB="${QUICKCHECKS_GITHUB:-warnings}"
fi

lines_of "${INPUT_ARGS:-}"
code=0
quickchecks run "$(as_path "$INPUT_FILE")" -o "$(as_path "$INPUT_RESULT")" -o "$report" ${lines[@]+"${lines[@]}"} || code=$?

# A program that outlives the run says no command either. That holds for this step; another one takes commands again.
printf '\n::stop-commands::%s\n' "$(nobody_knows)" >&2

if [ ! -f "$report" ]; then # a result that lies there is the one that was checked out
    say "there is no result"
    [ "$code" != 0 ] || code=3 # nothing was decided: the target ended the process, or only the help was asked for
    output exit-code "$code"
    exit 0
fi
output exit-code "$code"
output result "$INPUT_RESULT"
output report "$report"
output verdict "$("$INPUT_PYTHON" -I -c '
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    print(json.load(file).get("verdict") or "none")
' "$(as_path "$INPUT_RESULT")")"
