#!/usr/bin/env python3
# faults: misreads-chunks
# warnings: waits-for-ever fails-closed
# It takes what one read returns for the whole event.
import json
import os
import sys

try:
    json.loads(os.read(0, 1 << 20))
except ValueError:
    print("cannot read the event", file=sys.stderr)
    print("{}")
    sys.exit(2)
print("{}")
