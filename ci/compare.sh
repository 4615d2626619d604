#!/usr/bin/env bash
# Compare the result with the one that is committed on the base branch.
set -euo pipefail
# shellcheck source=ci/common.sh
. "$GITHUB_ACTION_PATH/common.sh"
enter

if [ -z "$RESULT" ]; then
    say "there is no result, so nothing is compared"
    exit 0
fi
ref=${INPUT_BASELINE:-${GITHUB_BASE_REF:-}}
if [ -z "$ref" ]; then
    say "this is no pull request, and no baseline was given, so nothing is compared"
    exit 0
fi
git check-ref-format "refs/heads/$ref" || fail "the input baseline is a branch, a tag or a commit"

# A clone that has its whole history keeps it; of one that has not, no more than the newest commit is asked for.
depth=()
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
    depth=(--depth=1)
fi
if GIT_TERMINAL_PROMPT=0 git fetch --quiet --no-tags ${depth[@]+"${depth[@]}"} -- origin "$ref"; then
    commit=$(git rev-parse --verify 'FETCH_HEAD^{commit}')
elif commit=$(git rev-parse --verify --quiet "refs/remotes/origin/$ref^{commit}"); then
    say "the baseline could not be fetched: what is known of it here is taken"
else
    annotate warning "the baseline $ref could not be fetched, so nothing is compared"
    output exit-code 3
    exit 0
fi

path=${INPUT_BASELINE_RESULT:-$RESULT}
path=./${path#"$PWD"/}
if [ "$(git cat-file -t "$commit:$path" 2>/dev/null)" != blob ]; then
    if [ -n "$INPUT_BASELINE_RESULT" ]; then
        level=error
        [ "$INPUT_DECIDES" != eval ] || level=warning
        annotate "$level" "$(printf 'the input baseline-result: there is no file %q on %q, so nothing is compared' "$path" "$ref")"
        output exit-code 2
        exit 0
    fi
    say "$(printf 'there is no %q on %q yet, so nothing is compared' "$path" "$ref")"
    in_summary "No result is committed on the base branch yet, so nothing is compared: commit the file that this run wrote."
    exit 0
fi
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/quickchecks.XXXXXX")
git cat-file blob "$commit:$path" >"$folder/base.json"

lines_of "$INPUT_FAIL_ON"
conditions=()
for line in ${lines[@]+"${lines[@]}"}; do
    conditions+=("--fail-on=$line")
done
# Where the eval alone decides, what the comparison finds is forgiven.
if [ "$INPUT_DECIDES" = eval ]; then
    export QUICKCHECKS_GITHUB="${QUICKCHECKS_GITHUB:-warnings}"
fi
code=0
quickchecks compare "$folder/base.json" "$(as_path "$RESULT")" -o "$folder/diff.md" \
    ${conditions[@]+"${conditions[@]}"} || code=$?
output exit-code "$code"
if [ -f "$folder/diff.md" ]; then
    output diff "$folder/diff.md"
fi
