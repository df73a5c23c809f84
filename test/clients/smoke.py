"""A client that a user would write with openapi-python-client and only the OpenAPI document."""

import os
import time

from tintype_client import AuthenticatedClient, Client
from tintype_client.api.api_keys import create_key, delete_key, list_keys, update_key
from tintype_client.api.batches import create_batch, get_batch
from tintype_client.api.screenshots import create_screenshot, delete_screenshot, get_screenshot, list_screenshots
from tintype_client.api.service import get_status
from tintype_client.api.usage import get_usage
from tintype_client.api.webhooks import create_webhook, delete_webhook, get_webhook, list_webhooks
from tintype_client.models import (
    CreateBatch,
    CreatedScreenshot,
    CreateKey,
    CreateScreenshot,
    CreateScreenshotOptions,
    CreateWebhook,
    Error,
    UpdateKey,
)
from tintype_client.models import Screenshot as Record

BASE_URL = os.environ["TINTYPE_URL"]
client = AuthenticatedClient(base_url=BASE_URL, token=os.environ["TINTYPE_API_KEY"])


def screenshots() -> None:
    options = CreateScreenshotOptions.from_dict({"format": "webp", "viewport_width": 640, "viewport_height": 480})
    body = CreateScreenshot(url="https://example.com/", options=options, external_identifier="python")
    created = create_screenshot.sync(client=client, body=body)
    assert isinstance(created, CreatedScreenshot), created
    record = get_screenshot.sync(client=client, id=created.id, wait=5)
    while isinstance(record, Record) and record.status == "pending":
        time.sleep(0.2)
        record = get_screenshot.sync(client=client, id=created.id, wait=5)
    assert isinstance(record, Record), record
    assert (record.format_, record.external_identifier) == ("webp", "python")
    page = list_screenshots.sync(client=client, limit=5)
    assert any(other.id == created.id for other in page.data)
    batch = create_batch.sync(client=client, body=CreateBatch(urls=["https://example.com/1", "https://example.com/2"]))
    assert batch.total == 2
    assert len(get_batch.sync(client=client, id=batch.batch_id).data.screenshots) == 2
    assert delete_screenshot.sync_detailed(client=client, id=created.id).status_code == 204
    missing = get_screenshot.sync(client=client, id=created.id)
    assert isinstance(missing, Error) and missing.error.code == "NOT_FOUND"


def keys() -> None:
    created = create_key.sync(client=client, body=CreateKey.from_dict({"name": "python", "scopes": ["usage:read"], "expires_in_days": 1}))
    other = AuthenticatedClient(base_url=BASE_URL, token=created.data.key)
    assert get_usage.sync(client=other).success is True
    assert list_keys.sync(client=other).error.code == "INSUFFICIENT_SCOPE"
    assert update_key.sync(client=client, id=created.data.id, body=UpdateKey(is_active=False)).data.is_active is False
    assert delete_key.sync_detailed(client=client, id=created.data.id).status_code == 204


def webhooks() -> None:
    body = CreateWebhook.from_dict({"name": "python", "url": "https://hooks.example.com/", "events": ["screenshot.completed"]})
    created = create_webhook.sync(client=client, body=body)
    assert created.data.signing_secret.startswith("whsec_")
    assert get_webhook.sync(client=client, id=created.data.id).data.statistics.total_deliveries == 0
    assert any(webhook.id == created.data.id for webhook in list_webhooks.sync(client=client).data)
    assert delete_webhook.sync_detailed(client=client, id=created.data.id).status_code == 204


def refusals() -> None:
    wrong = create_screenshot.sync(client=client, body=CreateScreenshot.from_dict({"url": "ftp://example.com/"}))
    assert isinstance(wrong, Error) and wrong.error.code == "VALIDATION_ERROR", wrong
    assert wrong.error.details[0].path == "url"
    stranger = Client(base_url=BASE_URL)
    assert get_status.sync(client=stranger).components.api.status == "operational"


screenshots()
keys()
webhooks()
refusals()
print("Python client: all checks passed")
