#!/bin/sh
# faults: reads-dev-stdin
# systems: linux
event=$(cat /dev/stdin) || exit 1
echo "{}"
