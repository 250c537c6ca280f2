#!/bin/sh
# faults: leftover-process
sleep 60 </dev/null >/dev/null 2>&1 &
echo "{}"
