#!/bin/sh
# events: PostToolUse,UserPromptSubmit,SessionStart,SessionEnd,SubagentStop,PostToolUseFailure
true
