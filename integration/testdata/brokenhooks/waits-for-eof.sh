#!/bin/sh
# faults: waits-for-eof
# It reads until the end of stdin.
event=$(cat)
echo "{}"
