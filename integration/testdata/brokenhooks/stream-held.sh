#!/bin/sh
# faults: stream-held
# A server that it starts keeps its stdout.
sleep 60 &
echo '{"systemMessage":"The server is started."}'
