#!/bin/bash
# faults: reads-dev-stdin
# systems: linux
# Its decision is the same without the event. What it says is not.
event=$(head -n 1 /dev/stdin 2>/dev/null)
echo "{\"systemMessage\":\"the event begins with ${event:2:4}.\"}"
