"""Verifies requests with the Python sample of docs/webhooks.md. Argument: the file of the sample. test/samples/run.ts describes input and output."""

import base64
import json
import runpy
import sys

sample = runpy.run_path(sys.argv[1])


def judge(request):
    asked = (base64.b64decode(request["body"]), request["headers"], request["secret"])
    return {"isGenuine": sample["is_genuine"](*asked), "isSigned": sample["is_signed"](*asked)}


print(json.dumps([judge(request) for request in json.load(sys.stdin)]))
