#!/bin/bash
# faults: leaves-files
# warnings: needs-newline waits-for-ever
# No event of a tool is about this file.
event=$(head -n 1)
echo ";; seen" >>"$CLAUDE_PROJECT_DIR/src/demo.clj"
