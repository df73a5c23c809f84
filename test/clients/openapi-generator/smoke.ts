// A client that a user would write with openapi-generator for TypeScript and only the OpenAPI document.
import assert from 'node:assert/strict'
import { Configuration, ModelErrorFromJSON, ResponseError, ScreenshotsApi, WebhooksApi } from './client/index.js'

const { TINTYPE_URL: basePath = '', TINTYPE_API_KEY: accessToken = '' } = process.env
const configuration = new Configuration({ basePath, accessToken })
const screenshots = new ScreenshotsApi(configuration)
// The generated function reads every response below 300 as a finished record, so this request waits.
const created = await screenshots.createScreenshot({
  wait: 25,
  createScreenshot: { url: 'https://example.com/', options: { format: 'webp', full_page: true }, external_identifier: 'generated' },
})
assert.ok(created)
let record = await screenshots.getScreenshot({ id: created.id, wait: 25 })
while (record.status === 'pending') record = await screenshots.getScreenshot({ id: created.id, wait: 25 })
assert.equal(record.external_identifier, 'generated')
const page = await screenshots.listScreenshots({ limit: 5 })
assert.ok(page.success && page.data.some(({ id }) => id === created.id))

const webhooks = new WebhooksApi(configuration)
const hook = await webhooks.createWebhook({
  createWebhook: { name: 'generated', url: 'https://hooks.example.com/', events: new Set(['screenshot.completed']) },
})
assert.equal((await webhooks.getWebhook({ id: hook.data.id })).data.name, 'generated')
await webhooks.deleteWebhook({ id: hook.data.id })

const refused = await screenshots.createScreenshot({ createScreenshot: { url: 'ftp://example.com/' } }).catch((error: unknown) => error)
assert.ok(refused instanceof ResponseError)
const { error } = ModelErrorFromJSON(await refused.response.json())
assert.equal(error.code, 'VALIDATION_ERROR')
assert.equal((error.details as { path: string }[])[0]?.path, 'url')
console.log('TypeScript client: all checks passed')
