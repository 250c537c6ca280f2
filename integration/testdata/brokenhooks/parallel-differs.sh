#!/bin/sh
# faults: parallel-differs
# All runs write to one file.
echo $$ > "$TMPDIR/stop-hook.out"
sleep 0.1
if [ "$(cat "$TMPDIR/stop-hook.out")" != $$ ]; then
  echo "The tests fail." >&2
  echo "{}"
  exit 2
fi
echo "{}"
