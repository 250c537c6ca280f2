#!/bin/sh
# faults: timed-out
# flags: --timeout 500ms
exec sleep 60
