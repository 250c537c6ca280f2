#!/bin/bash
# faults: inconsistent
# It blocks every second time.
event=$(head -n 1)
count=$(($(cat "$HOME/count" 2>/dev/null || echo 0) + 1))
echo "$count" >"$HOME/count"
((count % 2)) || { echo '{}'; echo "The tests fail." >&2; exit 2; }
