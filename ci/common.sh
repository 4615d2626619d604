# What the steps of the action share. Works with the bash 3.2 of macOS: no mapfile, and empty arrays need care.
# shellcheck shell=bash

# nobody_knows: a word that nobody can guess.
nobody_knows() {
    od -An -N16 -tx1 /dev/urandom | tr -d ' \n'
}

# output NAME VALUE: give an output to later steps, whatever the value holds.
output() {
    local mark
    mark="end-$(nobody_knows)"
    printf '%s<<%s\n%s\n%s\n' "$1" "$mark" "$2" "$mark" >>"$GITHUB_OUTPUT"
}

# lines_of TEXT: put the lines of a text that are not empty into the array `lines`.
lines_of() {
    local line
    lines=()
    while IFS= read -r line || [ -n "$line" ]; do
        line=${line%$'\r'}
        [ -z "$line" ] || lines+=("$line")
    done <<<"$1"
}

# enter: go to the working directory, when it and the Python are there.
enter() {
    CDPATH='' cd -- "$INPUT_WORKING_DIRECTORY" 2>/dev/null ||
        fail "$(printf 'the input working-directory: there is no folder %q here' "$INPUT_WORKING_DIRECTORY")"
    command -v -- "$INPUT_PYTHON" >/dev/null ||
        fail "$(printf 'the input python: there is no program %q; set one up before, as with actions/setup-python' "$INPUT_PYTHON")"
}

# quickchecks ARGUMENT...: run it from where it is installed; -P keeps a folder of the same name from taking its place.
quickchecks() {
    "$INPUT_PYTHON" -P -m quickchecks "$@"
}

# as_path TEXT: a path that no program takes for an option.
as_path() {
    case $1 in
    -*) printf './%s' "$1" ;;
    *) printf '%s' "$1" ;;
    esac
}

# say TEXT: print a sentence, in which nothing that a user gave may be a command (it is given with printf %q).
say() {
    printf 'quickchecks: %s\n' "$1"
}

# annotate LEVEL TEXT: the same as an annotation.
annotate() {
    local text=${2//'%'/%25}
    text=${text//$'\r'/%0D}
    printf '::%s title=quickchecks::%s\n' "$1" "${text//$'\n'/%0A}"
}

# fail TEXT: end the job, because an input makes no sense.
fail() {
    annotate error "$1"
    exit 2
}

# in_summary TEXT: add a paragraph to the step summary.
in_summary() {
    [ -z "${GITHUB_STEP_SUMMARY:-}" ] || printf '%s\n\n' "$1" >>"$GITHUB_STEP_SUMMARY"
}
