#!/bin/sh
# faults: stuck-after-kill
# (its lock stays: what is asked afterwards is skipped)
# Its lock is a folder, and nobody removes that of a run that was killed.
until mkdir "$TMPDIR/stop-hook.lock" 2>/dev/null; do sleep 0.02; done
event=$(head -n 1)
rmdir "$TMPDIR/stop-hook.lock"
echo "{}"
