#!/usr/bin/env python3
# It reads until the object is complete, for at most 1 s.
import codecs
import json
import os
import select
import sys
import time


def read_event():
    decoder, text, end = codecs.getincrementaldecoder("utf-8-sig")(), "", time.monotonic() + 1
    while select.select([0], [], [], max(0, end - time.monotonic()))[0]:
        data = os.read(0, 1 << 16)
        text += decoder.decode(data, final=not data)
        if not data or text.rstrip().endswith("}"):
            try:
                return json.loads(text)
            except ValueError:
                if not data:
                    return None
    return None


if read_event() is None:
    print("no event", file=sys.stderr)
