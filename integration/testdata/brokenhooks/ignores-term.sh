#!/bin/sh
# faults: ignores-term
# warnings: waits-for-ever needs-newline
trap "" TERM
event=$(head -n 1)
echo "{}"
