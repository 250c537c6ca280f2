#!/bin/sh
# Exit 1 with JSON: the agent gets a turn to read it.
echo '{"systemMessage":"The tests fail.","hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"The tests fail."}}'
echo "The tests fail." >&2
exit 1
