#!/bin/sh
# warnings: told-twice
echo '{"decision":"block","reason":"The tests fail."}'
