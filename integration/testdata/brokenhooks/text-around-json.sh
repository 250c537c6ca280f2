#!/bin/sh
# faults: text-around-json
# It logs to stdout before its JSON.
echo "checking the tests ..."
echo '{"decision":"block","reason":"The tests fail."}'
