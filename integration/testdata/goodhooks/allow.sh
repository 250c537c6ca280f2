#!/bin/sh
# It does not look at its input.
exit 0
