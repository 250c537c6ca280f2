#!/bin/sh
# faults: downgrade
echo "cat: build/report.txt: No such file or directory" >&2
exit 2
