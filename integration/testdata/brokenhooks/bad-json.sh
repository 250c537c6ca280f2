#!/bin/sh
# faults: bad-json
# It pastes a text with quotes into its JSON.
message='expected "1", found "2"'
echo "{\"decision\":\"block\",\"reason\":\"$message\"}"
