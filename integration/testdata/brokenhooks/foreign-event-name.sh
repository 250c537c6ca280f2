#!/bin/sh
# faults: foreign-event-name
echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"The tests fail."}}'
