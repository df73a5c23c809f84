"""Verifies a request with the Standard Webhooks library of PyPI. Reads {secret, headers, body (base64)}; prints the event's id."""

import base64
import json
import sys

from standardwebhooks.webhooks import Webhook

request = json.load(sys.stdin)
body = base64.b64decode(request["body"])
print(Webhook(request["secret"]).verify(body, request["headers"])["id"])
