#!/bin/sh
# faults: fails-on-large-input
# warnings: waits-for-ever needs-newline
# An argument holds 128 KiB.
event=$(head -n 1)
/bin/echo "$event" >/dev/null || exit 1
echo "{}"
