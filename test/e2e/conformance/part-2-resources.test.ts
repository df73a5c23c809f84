import t from 'tap'
import {
  createAndForget,
  createWebhook,
  isBoolean,
  isInstant,
  isNumber,
  isRange,
  isString,
  isTextOf,
  rest,
  restOf,
  testFields,
} from '../../support/cluster/conformance.ts'
import { page } from '../../support/servers/pages.ts'

// Parts 2.4 to 2.10: fields of the other resources, and their envelopes.

const isOneOf =
  (...values: unknown[]) =>
  (value: unknown) =>
    values.includes(value)
const isHealth = isOneOf('operational', 'degraded', 'outage')

const urls = [page('/quadrants'), page('/solid?color=ff0000')]
const { body: batch } = await rest('POST', '/screenshots/batch', { urls, options: { delay: 60_000 } })
const items: { id: string; url_to_capture: string }[] = batch.screenshots
t.teardown(() => Promise.all(items.map(({ id }) => rest('DELETE', `/screenshots/${id}`))))
const hook = await createWebhook(t, { description: 'For people' })
const foundHook = await rest('GET', `/webhooks/${hook.body.data.id}`)
const status = await restOf(null)('GET', '/status')
const usage = await rest('GET', '/usage/current')
const madeKey = await rest('POST', '/keys', { name: 'Conformance' })
t.teardown(() => rest('DELETE', `/keys/${madeKey.body.data.id}`))

testFields(t, batch, [
  ['spec 2.4: screenshots is an array', 'screenshots', Array.isArray],
  ['spec 2.4: an item has id', 'screenshots.0.id', isTextOf(/^scr_/)],
  ['spec 2.4: an item has url_to_capture', 'screenshots.0.url_to_capture', (value) => value === urls[0]],
  ['spec 2.4: an item has status', 'screenshots.0.status', (value) => value === 'pending'],
  ['spec 2.4: an item has created_at', 'screenshots.0.created_at', isInstant],
  ['spec 2.4: total is the number of jobs in the result', 'total', (value) => value === urls.length],
  ['spec 2.4: successful is the number of jobs enqueued', 'successful', (value) => value === urls.length],
  ['spec 2.4: failed is the number of jobs that failed to enqueue', 'failed', (value) => value === 0],
  ['spec 2.4: estimated_time is a range text <min>-<max>s', 'estimated_time', isRange],
])

t.test('spec 2.4: screenshots has one item per submitted URL', async (t) => {
  t.strictSame(
    items.map(({ url_to_capture }) => url_to_capture),
    urls,
  )
})

t.test('spec 2.4: failed_jobs and warning are absent when nothing failed', async (t) => {
  t.strictSame(Object.keys(batch), ['batch_id', 'screenshots', 'total', 'successful', 'failed', 'estimated_time'])
})

testFields(t, hook.body.data, [
  ['spec 2.5: id has the prefix wh_', 'id', isTextOf(/^wh_[0-9a-hjkmnp-tv-z]{26}$/)],
  ['spec 2.5: name is a string', 'name', isString],
  ['spec 2.5: url starts with https://', 'url', isTextOf(/^https:\/\//)],
  ['spec 2.5: events is an array of string', 'events', (value) => Array.isArray(value) && value.every(isString)],
  ['spec 2.5: description is a string', 'description', (value) => value === 'For people'],
  ['spec 2.5: is_active is true by default', 'is_active', (value) => value === true],
  ['spec 2.5: is_default is false for a created endpoint', 'is_default', (value) => value === false],
  ['spec 2.5: created_at is ISO 8601 UTC', 'created_at', isInstant],
  ['spec 2.5: updated_at is ISO 8601 UTC', 'updated_at', isInstant],
])

t.test('spec 2.5: fetching one webhook also returns delivery statistics', async (t) => {
  t.strictSame(foundHook.body.data.statistics, {
    total_deliveries: 0,
    successful_deliveries: 0,
    failed_deliveries: 0,
    pending_deliveries: 0,
    missed_deliveries: 0,
    success_rate: null,
    average_response_time_ms: null,
    last_delivery_at: null,
    last_success_at: null,
    last_failure_at: null,
    last_status_code: null,
    consecutive_failures: 0,
  })
})

testFields(t, status.body, [
  ['spec 2.7: status is operational, degraded or outage', 'status', isHealth],
  ['spec 2.7: version is a semantic version', 'version', isTextOf(/^\d+\.\d+\.\d+$/)],
  ['spec 2.7: timestamp is ISO 8601 UTC', 'timestamp', isInstant],
  ['spec 2.7: uptime_seconds is a number', 'uptime_seconds', (value) => isNumber(value) && value >= 0],
  ['spec 2.7: response_time_ms is a number', 'response_time_ms', (value) => isNumber(value) && value >= 0],
  ['spec 2.7: components.database has status', 'components.database.status', isHealth],
  ['spec 2.7: components.database has response_time_ms', 'components.database.response_time_ms', isNumber],
  ['spec 2.7: components.storage has status', 'components.storage.status', isHealth],
  ['spec 2.7: components.storage has response_time_ms', 'components.storage.response_time_ms', isNumber],
  ['spec 2.7: components.api has status', 'components.api.status', isHealth],
])

t.test('spec 2.7: components.api has status only, and there are no other components', async (t) => {
  const { components } = status.body
  t.strictSame(Object.keys(components).sort(), ['api', 'database', 'storage'])
  t.strictSame(Object.keys(components.api ?? {}), ['status'])
})

testFields(t, usage.body, [
  ['spec 2.8: success is a boolean', 'success', isBoolean],
  ['spec 2.8: data.period is a month YYYY-MM', 'data.period', (value) => value === new Date().toISOString().slice(0, 7)],
  ['spec 2.8: data.count is a number', 'data.count', isNumber],
  ['spec 2.8: data.limit is a number', 'data.limit', isNumber],
  ['spec 2.8: data.percentage is a number', 'data.percentage', isNumber],
  ['spec 2.8: data.remaining is a number', 'data.remaining', isNumber],
])

t.test('spec 2.8: percentage and remaining follow from count and limit', async (t) => {
  const { count = 0, limit = 0, percentage, remaining } = usage.body.data
  t.equal(remaining, limit - count)
  t.equal(percentage, Math.round((count / limit) * 10_000) / 100)
})

t.test('spec 2.9: an API key has its own fields, and its text is shown once', async (t) => {
  t.match(madeKey.body.data, { id: /^key_/, name: 'Conformance', key: /^ttk_[0-9A-Za-z]{36}$/, key_prefix: 'ttk_', scopes: ['*'] })
  t.match(madeKey.body.data, { is_active: true, expires_at: null, last_used_at: null, last_four: /^.{4}$/ })
  t.notOk('key' in (await rest('GET', `/keys/${madeKey.body.data.id}`)).body.data)
})

t.test('spec 2.10: screenshot creation and batch creation return bare objects', async (t) => {
  const { body } = await createAndForget(t, { url: urls[0], options: { delay: 60_000 } })
  for (const bare of [body, batch]) t.strictSame([bare.success, bare.data], [undefined, undefined])
})

t.test('spec 2.10: webhook creation returns message and data', async (t) => {
  t.strictSame(Object.keys(hook.body), ['message', 'data'])
  t.type(hook.body.message, 'string')
})

t.test('spec 2.10: usage returns success true and data', async (t) => {
  t.strictSame(Object.keys(usage.body), ['success', 'data'])
  t.match(usage.body, { success: true })
})

t.test('spec 2.10: status returns a bare object', async (t) => {
  t.strictSame(Object.keys(status.body).sort(), ['components', 'response_time_ms', 'status', 'timestamp', 'uptime_seconds', 'version'])
})
