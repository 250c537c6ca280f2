#!/bin/sh
# events: PreToolUse
# warnings: waits-for-ever needs-newline
event=$(head -n 1)
case $event in
  *"git push --force"*)
    echo "No force, please." >&2
    exit 2 ;;
esac
