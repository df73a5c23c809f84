"""A client that a user would write with openapi-generator for Python and only the OpenAPI document."""

import os

from tintype_generated import ApiClient, Configuration, CreateScreenshot, CreateWebhook, ScreenshotsApi, UsageApi, WebhooksApi
from tintype_generated.exceptions import ApiException
from tintype_generated.models.error import Error

configuration = Configuration(host=os.environ["TINTYPE_URL"], access_token=os.environ["TINTYPE_API_KEY"])
with ApiClient(configuration) as client:
    screenshots = ScreenshotsApi(client)
    body = {"url": "https://example.com/", "options": {"format": "webp", "full_page": True}, "external_identifier": "generated"}
    created = screenshots.create_screenshot(CreateScreenshot.from_dict(body))
    assert created.status == "pending", created
    record = screenshots.get_screenshot(created.id, wait=25)
    while record.status == "pending":
        record = screenshots.get_screenshot(created.id, wait=25)
    assert (record.format, record.external_identifier) == ("webp", "generated"), record
    page = screenshots.list_screenshots(limit=5)
    assert page.success is True and any(other.id == created.id for other in page.data), page
    assert UsageApi(client).get_usage().data.count > 0

    webhooks = WebhooksApi(client)
    hook = webhooks.create_webhook(CreateWebhook(name="generated", url="https://hooks.example.com/", events=["screenshot.completed"]))
    assert hook.data.is_active is True
    assert webhooks.get_webhook(hook.data.id).data.name == "generated"
    webhooks.delete_webhook(hook.data.id)

    try:
        screenshots.create_screenshot(CreateScreenshot(url="ftp://example.com/"))
        raise AssertionError("the URL was accepted")
    except ApiException as refused:
        assert refused.status == 400
        error = Error.from_json(refused.body).error
        problems = error.details.actual_instance
        assert error.code == "VALIDATION_ERROR" and problems[0].path == "url", refused.body
print("Python client: all checks passed")
