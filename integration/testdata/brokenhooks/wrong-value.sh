#!/bin/sh
# faults: wrong-value
echo '{"decision":"allow","reason":"All is well."}'
