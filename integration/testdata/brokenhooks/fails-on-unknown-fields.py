#!/usr/bin/env python3
# faults: fails-on-unknown-fields
# warnings: waits-for-ever needs-newline
import json
import sys


def stop(session_id, transcript_path, cwd, hook_event_name, stop_hook_active, prompt_id, permission_mode, effort=None,
         last_assistant_message="", background_tasks=(), session_crons=()):
    print("{}")


try:
    event = json.loads(sys.stdin.readline())
except ValueError:
    sys.exit(0)
stop(**event)
