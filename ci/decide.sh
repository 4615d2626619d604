#!/usr/bin/env bash
# End as the eval did, or as the comparison did.
set -euo pipefail

case $INPUT_DECIDES in
comparison) exit "${COMPARISON_EXIT_CODE:-$EVAL_EXIT_CODE}" ;;
both)
    [ "$EVAL_EXIT_CODE" = 0 ] || exit "$EVAL_EXIT_CODE"
    exit "${COMPARISON_EXIT_CODE:-0}"
    ;;
*) exit "$EVAL_EXIT_CODE" ;;
esac
