"""Asks the sample of docs/webhooks.md in Python about requests. Arguments: the sample's file. In and out as test/samples/run.ts says."""

import base64
import json
import runpy
import sys

sample = runpy.run_path(sys.argv[1])


def judge(request):
    asked = (base64.b64decode(request["body"]), request["headers"], request["secret"])
    return {"isGenuine": sample["is_genuine"](*asked), "isSigned": sample["is_signed"](*asked)}


print(json.dumps([judge(request) for request in json.load(sys.stdin)]))
