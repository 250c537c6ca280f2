#!/bin/sh
# faults: block-without-text
echo "{}"
exit 2
