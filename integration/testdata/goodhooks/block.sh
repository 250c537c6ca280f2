#!/bin/sh
# warnings: waits-for-ever needs-newline
# It reads one line, and blocks in the way that reaches the agent once.
event=$(head -n 1)
case $event in
  *\"stop_hook_active\":true*) exit 0 ;;
esac
echo "{}"
echo "The tests fail: cat: report.txt: No such file or directory" >&2
exit 2
