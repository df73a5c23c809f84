"""Facts about this API that its OpenAPI document cannot express."""

import itertools
import json
import os
from urllib.parse import parse_qs, urlsplit

import schemathesis
from hypothesis import strategies as st
from schemathesis import GenerationMode

LETTERS = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
PATHS = st.from_regex(r"[a-z0-9/]{0,12}", fullmatch=True)

# Allowed URLs with public hosts, which the run never contacts. Dates are in the future, as expiries must be.
schemathesis.openapi.format("uri", st.builds("https://{}.example.com/{}".format, LETTERS, PATHS))
schemathesis.openapi.format("date-time", st.builds("20{}-03-01T12:00:00Z".format, st.integers(30, 60)))

OWN_KEY = os.environ["FUZZ_KEY_ID"]
NO_KEY = "key_00000000000000000000000000"
# Existing ids by operation, because chains of requests may not reach it. The run does not delete them: a 404 of such an id, put in place of one
# that was just created, would be reported as the loss of that one.
IDS = json.loads(os.environ["FUZZ_IDS"])
FILE = urlsplit(os.environ["FUZZ_FILE"])

counter = itertools.count()

PLAN_DAYS = 30

# One in so many capture options is tried, without those that may be very long. test/integration/crds/agreement.test.ts tries the values
# of each option; a run over all options would take an hour.
SHARE = int(os.environ["FUZZ_SHARE"])
LONGEST = 300_000


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for name in ("CreateScreenshot", "CreateVideo", "CreateBatch", "CreateSchedule", "UpdateSchedule"):
        field = raw_schema["components"]["schemas"][name]["properties"]["options"]
        # A change may remove them all, with null.
        options = next(schema["properties"] for schema in field.get("anyOf", [field]) if "properties" in schema)
        for index, (option, schema) in enumerate(sorted(options.items())):
            if option != "url" and (index % SHARE or schema.get("maxLength", 0) > LONGEST):
                del options[option]


def is_right(case):
    return case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE


def loosen(case):
    """Removes three of four conditional headers and idempotency keys, because a failed condition or a reused key prevents all later checks."""
    for name in ("Idempotency-Key", "If-Match"):
        if name in (case.headers or {}) and next(counter) % 4:
            del case.headers[name]


def thin(options):
    """Keeps three options per request, because among many options some always contradict each other."""
    names = sorted(options)
    start = next(counter) % max(1, len(names))
    for name in set(names) - set((names + names)[start : start + 3]):
        del options[name]


def settle(case):
    """Applies rules that the schema cannot express: fields that exclude each other, and a url in one of two places."""
    body = case.body
    if not isinstance(body, dict):
        return
    # A cron expression and the name of a time zone are more than a pattern.
    if "schedule" in body:
        body["schedule"] = "*/5 * * * *"
    if "time_zone" in body:
        body["time_zone"] = "Europe/Zurich"
    options = body.get("options")
    for place in (body, options):
        # The maximum that the plan allows.
        if isinstance(place, dict) and (place.get("retention_days") or 0) > PLAN_DAYS:
            place["retention_days"] = PLAN_DAYS
    if isinstance(options, dict):
        thin(options)
        if "html" in options or "markdown" in options:
            body.pop("url", None)
            options.pop("url", None)
            return
    if "expires_in_days" in body:
        body.pop("expires_at", None)
    if case.path in ("/api/v1/screenshots", "/api/v1/videos", "/api/v1/schedules") and "url" not in body and "url" not in body.get("options", {}):
        body["url"] = "https://example.com/"


@schemathesis.hook
def before_call(context, case, kwargs):
    """Protects the run's own key, and inserts valid signatures, which cannot be guessed."""
    operation = case.operation.definition.raw.get("operationId")
    if (case.path_parameters or {}).get("id") == OWN_KEY and case.method != "GET":
        case.path_parameters["id"] = NO_KEY
    if case.method == "DELETE" and (id := (case.path_parameters or {}).get("id")) in IDS.values():
        case.path_parameters["id"] = id[:4] + NO_KEY[4:]
    if not is_right(case):
        # This header asks the API to ignore errors, which these requests contain on purpose.
        (case.headers or {}).pop("Prefer", None)
        return
    loosen(case)
    settle(case)
    if operation in IDS and next(counter) % 2:
        case.path_parameters["id"] = IDS[operation]
        if operation == "approveRun":
            case.body = {}
    if operation == "getFile" and case.method == "GET":
        _, _, _, account, file = FILE.path.split("/")
        case.path_parameters = {"account": account, "file": file}
        case.query = {name: values[0] for name, values in parse_qs(FILE.query).items()}


@schemathesis.deserializer("image/png", "image/jpeg", "image/webp")
def read_picture(context, response):
    return {}
