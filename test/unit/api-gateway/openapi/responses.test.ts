import t from 'tap'
import { findOperation, findUndocumented } from '../../../support/sources/documented.ts'
import { aGateway } from '../fakes.ts'

const url = 'https://example.com/'
const webhook = { name: 'hook', url: 'https://hooks.example.com/', events: ['screenshot.completed'] }

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a client does, in order; `{id}` is the id of the answer before. */
const story: { method: Method; path: string; payload?: object; status: number; remembers?: boolean; key?: string }[] = [
  { method: 'GET', path: '/api/v1/status', status: 200 },
  { method: 'GET', path: '/api/v1/usage/current', status: 200 },
  { method: 'GET', path: '/api/v1/usage/current', status: 401, key: 'none' },
  { method: 'GET', path: '/v1/devices', status: 200 },
  { method: 'POST', path: '/api/v1/screenshots', payload: { url, options: { format: 'jpeg' } }, status: 202, remembers: true },
  { method: 'GET', path: '/api/v1/screenshots/{id}', status: 200 },
  { method: 'GET', path: '/v1/screenshots/{id}/download', status: 409 },
  { method: 'GET', path: '/api/v1/screenshots', status: 200 },
  { method: 'DELETE', path: '/api/v1/screenshots/{id}', status: 204 },
  { method: 'GET', path: '/api/v1/screenshots/{id}', status: 404 },
  { method: 'POST', path: '/api/v1/screenshots', payload: { url: 'http://127.0.0.1/' }, status: 400 },
  { method: 'POST', path: '/api/v1/screenshots/batch', payload: { urls: [url, url] }, status: 202 },
  { method: 'POST', path: '/api/v1/screenshots/batch', payload: { urls: [] }, status: 400 },
  { method: 'POST', path: '/api/v1/schedules', payload: { url, schedule: '@hourly' }, status: 201, remembers: true },
  { method: 'POST', path: '/api/v1/schedules', payload: { url, schedule: 'often' }, status: 400 },
  { method: 'GET', path: '/api/v1/schedules', status: 200 },
  { method: 'GET', path: '/api/v1/schedules/{id}', status: 200 },
  { method: 'PATCH', path: '/api/v1/schedules/{id}', payload: { suspend: true }, status: 200 },
  { method: 'POST', path: '/api/v1/schedules/{id}/run', status: 202 },
  { method: 'GET', path: '/api/v1/schedules/{id}/runs', status: 200 },
  { method: 'POST', path: '/api/v1/schedules/{id}/approve', status: 409 },
  { method: 'DELETE', path: '/api/v1/schedules/{id}', status: 204 },
  { method: 'GET', path: '/api/v1/schedules/{id}', status: 404 },
  { method: 'POST', path: '/api/v1/keys', payload: { name: 'other', scopes: ['usage:read'] }, status: 201, remembers: true },
  { method: 'GET', path: '/api/v1/keys', status: 200 },
  { method: 'GET', path: '/api/v1/keys/{id}', status: 200 },
  { method: 'PATCH', path: '/api/v1/keys/{id}', payload: { name: 'else' }, status: 200 },
  { method: 'PUT', path: '/api/v1/keys/{id}', payload: {}, status: 400 },
  { method: 'POST', path: '/api/v1/keys/{id}/rotate', status: 201 },
  { method: 'POST', path: '/api/v1/keys/{id}/rotate', status: 409 },
  { method: 'DELETE', path: '/api/v1/keys/{id}', status: 204 },
  { method: 'POST', path: '/api/v1/webhooks', payload: webhook, status: 201, remembers: true },
  { method: 'GET', path: '/api/v1/webhooks', status: 200 },
  { method: 'GET', path: '/api/v1/webhooks/{id}', status: 200 },
  { method: 'PATCH', path: '/api/v1/webhooks/{id}', payload: { is_active: false }, status: 200 },
  { method: 'POST', path: '/api/v1/webhooks/{id}/rotate-secret', status: 200 },
  { method: 'POST', path: '/api/v1/webhooks/{id}/test', status: 503 },
  { method: 'GET', path: '/api/v1/webhooks/{id}/deliveries', status: 200 },
  { method: 'GET', path: '/api/v1/webhooks/{id}/deliveries/none', status: 404 },
  { method: 'POST', path: '/api/v1/webhooks/{id}/deliveries/none/redeliver', status: 404 },
  { method: 'DELETE', path: '/api/v1/webhooks/{id}', status: 204 },
]

t.test('the gateway answers with what is documented and nothing more', async (t) => {
  const { app, headers } = aGateway()
  let id = ''
  const faults: unknown[] = []
  for (const { method, path: template, payload, status, remembers, key } of story) {
    const path = template.replace('{id}', id)
    const response = await app.inject({ method, url: path, headers: key ? {} : headers, ...(payload ? { payload } : {}) })
    if (response.statusCode !== status) faults.push({ method, template, status: response.statusCode, wanted: status, body: response.body })
    const body = response.headers['content-type']?.toString().startsWith('application/json') ? response.json() : undefined
    const undocumented = findUndocumented({ method, path, status: response.statusCode, body })
    if (undocumented !== undefined) faults.push({ method, template, undocumented })
    if (remembers) id = body.id ?? body.data.id
  }
  t.strictSame(faults, [])
})

t.test('findUndocumented tells a status, a code and a field that the document does not have', async (t) => {
  const seen = { method: 'GET', path: '/v1/usage/current' }
  t.match(findUndocumented({ ...seen, status: 418, body: {} }), 'no such status')
  t.match(findUndocumented({ ...seen, status: 401, body: { success: false, error: { code: 'NOT_FOUND', message: '' } } }), 'no NOT_FOUND')
  const error = { code: 'UNAUTHORIZED', message: '', hint: '' }
  t.match(findUndocumented({ ...seen, status: 401, body: { success: false, error } }), '.error.hint is not documented')
  t.match(findUndocumented({ ...seen, status: 401, body: { error } }), 'Invalid input')
})

t.test('findOperation takes a path that is spelled out before one with an id, and HEAD as GET', async (t) => {
  t.equal(findOperation('POST', '/v1/screenshots/batch')?.id, 'createBatch')
  t.equal(findOperation('HEAD', '/api/v1/screenshots/scr_1')?.id, 'getScreenshot')
  t.equal(findOperation('GET', '/healthz'), undefined)
})
