#!/bin/sh
# faults: two-documents
echo '{"systemMessage":"The tests fail."}'
echo '{"decision":"block","reason":"The tests fail."}'
