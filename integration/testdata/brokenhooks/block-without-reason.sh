#!/bin/sh
# faults: block-without-reason
echo '{"decision":"block"}'
