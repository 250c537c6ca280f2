#!/bin/sh
# faults: not-started
# command: ./no-such-hook --stop

