#!/bin/sh
# faults: continue-false
# It means to block, and ends the agent.
echo '{"continue":false,"stopReason":"The tests fail."}'
