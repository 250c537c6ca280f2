#!/bin/sh
# faults: leaves-files
date > "$TMPDIR/stop-hook.$$"
echo "{}"
