#!/bin/bash
# events: PreToolUse
# faults: incomplete-input
# warnings: needs-newline waits-for-ever
# It gives back the one field that it changes, for every tool.
event=$(head -n 1)
echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"content":"(ns demo)"}}}'
