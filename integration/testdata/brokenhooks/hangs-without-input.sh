#!/bin/sh
# faults: hangs-without-input
# warnings: waits-for-ever needs-newline
# It asks again and again for a line.
until event=$(head -n 1) && [ -n "$event" ]; do sleep 0.05; done
echo "{}"
