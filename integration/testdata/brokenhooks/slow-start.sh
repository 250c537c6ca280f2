#!/bin/sh
# faults: slow-start
# flags: --start-limit 250ms
sleep 0.4
echo "{}"
