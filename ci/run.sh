#!/usr/bin/env bash
# Run the eval. One that fails does not end the job here: the comparison comes first, and then decide.sh.
set -euo pipefail
# shellcheck source=ci/common.sh
. "$GITHUB_ACTION_PATH/common.sh"
cd -- "$INPUT_WORKING_DIRECTORY"

folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/quickchecks.XXXXXX")
report=$folder/report.md

lines_of "${INPUT_ARGS:-}"
code=0
quickchecks run "$(as_path "$INPUT_FILE")" -o "$(as_path "$INPUT_RESULT")" -o "$report" ${lines[@]+"${lines[@]}"} || code=$?

output exit-code "$code"
if [ ! -f "$report" ]; then # a result that lies there is the one that was checked out
    say "there is no result"
    exit 0
fi
output result "$INPUT_RESULT"
output report "$report"
output verdict "$("$INPUT_PYTHON" -I -c '
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    print(json.load(file)["verdict"] or "none")
' "$(as_path "$INPUT_RESULT")")"
