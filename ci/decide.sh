#!/usr/bin/env bash
# End as the eval did, or as the comparison did.
set -euo pipefail
# shellcheck source=ci/common.sh
. "$GITHUB_ACTION_PATH/common.sh"

# This is said here, because the step of the run takes no commands after the run.
if [ -z "$RESULT" ]; then
    annotate error "there is no result: the command ended before it wrote one (exit code $EVAL_EXIT_CODE); its log says why"
    exit "$EVAL_EXIT_CODE"
fi

case $INPUT_DECIDES in
comparison)
    if [ -z "$COMPARISON_EXIT_CODE" ] && [ "$EVAL_EXIT_CODE" != 0 ]; then
        annotate error "nothing was compared, so the eval decides: exit code $EVAL_EXIT_CODE"
    fi
    exit "${COMPARISON_EXIT_CODE:-$EVAL_EXIT_CODE}"
    ;;
both)
    [ "$EVAL_EXIT_CODE" = 0 ] || exit "$EVAL_EXIT_CODE"
    exit "${COMPARISON_EXIT_CODE:-0}"
    ;;
*) exit "$EVAL_EXIT_CODE" ;;
esac
