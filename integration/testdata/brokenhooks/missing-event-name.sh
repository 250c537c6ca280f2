#!/bin/sh
# faults: missing-event-name
echo '{"hookSpecificOutput":{"additionalContext":"The tests fail."}}'
