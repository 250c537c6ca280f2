#!/bin/sh
# faults: nonblocking-exit
# It means to block with exit 1.
echo "The tests fail." >&2
exit 1
