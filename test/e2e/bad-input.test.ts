import t from 'tap'
import { createClusterAccount } from '../support/cluster/accounts.ts'
import { type Call, call } from '../support/cluster/api-client.ts'
import { NAMESPACE, STORE } from '../support/cluster/tested-release.ts'
import { page } from '../support/servers/pages.ts'

// Invalid input returns the error envelope with all errors at once, and creates nothing. The test has its own account, so that no other
// test creates anything in it.

const { key } = await createClusterAccount(t, 'bad-input', { plan: 'scale' })

const create = (body: unknown, more: Call = {}): Call => ({ method: 'POST', body, ...more })
const url = page('/quadrants')

const cases: { name: string; path?: string; call: Call; status: number; code: string; details?: string[] }[] = [
  { name: 'malformed JSON', call: create('{"url": '), status: 400, code: 'VALIDATION_ERROR' },
  { name: 'a body that is not an object', call: create([]), status: 400, code: 'VALIDATION_ERROR' },
  {
    name: 'an unknown option',
    call: create({ url, options: { fullpage: true } }),
    status: 400,
    code: 'VALIDATION_ERROR',
    details: ['options.fullpage'],
  },
  { name: 'an unknown field', call: create({ url, viewport: {} }), status: 400, code: 'VALIDATION_ERROR', details: ['viewport'] },
  {
    name: 'a contradiction',
    call: create({ url, options: { omit_background: true, format: 'jpeg' } }),
    status: 400,
    code: 'VALIDATION_ERROR',
  },
  { name: 'no url', call: create({}), status: 400, code: 'VALIDATION_ERROR', details: ['url'] },
  { name: 'a url that is not http', call: create({ url: 'file:///etc/passwd' }), status: 400, code: 'VALIDATION_ERROR', details: ['url'] },
  { name: 'a private address', call: create({ url: 'http://169.254.169.254/' }), status: 400, code: 'URL_NOT_ALLOWED' },
  { name: 'a private address in disguise', call: create({ url: 'http://0x7f.1/' }), status: 400, code: 'URL_NOT_ALLOWED' },
  {
    name: 'a cluster name that is not on the allow-list',
    call: create({ url: `http://${STORE}.${NAMESPACE}.svc.cluster.local:9000/` }),
    status: 400,
    code: 'URL_NOT_ALLOWED',
  },
  { name: 'no key', call: create({ url }, { key: null }), status: 401, code: 'UNAUTHORIZED' },
  { name: 'a wrong key', call: create({ url }, { key: 'ttk_000000000000000000000000000000000000' }), status: 401, code: 'INVALID_API_KEY' },
  { name: 'an unknown id', path: '/api/v1/screenshots/scr_7zzzzzzzzzzzzzzzzzzzzzzzzz', call: {}, status: 404, code: 'NOT_FOUND' },
  { name: 'a malformed id', path: '/api/v1/screenshots/nonsense', call: {}, status: 404, code: 'NOT_FOUND' },
  { name: 'an unknown path', path: '/api/v1/nothing', call: {}, status: 404, code: 'NOT_FOUND' },
  { name: 'a wrong method', path: '/api/v1/status', call: { method: 'POST' }, status: 405, code: 'METHOD_NOT_ALLOWED' },
  {
    name: 'an unsupported media type',
    call: create('url=x', { headers: { 'content-type': 'text/plain' } }),
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
]

interface Envelope {
  success: boolean
  error: { code: string; message: string; details?: { path: string }[]; request_id?: string }
}

const newest = async (): Promise<string | undefined> =>
  (await call<{ data: { id: string }[] }>('/api/v1/screenshots?limit=1', { key })).body.data[0]?.id

for (const { name, path = '/api/v1/screenshots', call: request, status, code, details } of cases) {
  t.test(`${name} is answered with ${status} ${code}`, async (t) => {
    const before = await newest()
    const answer = await call<Envelope>(path, { key, ...request })
    t.equal(answer.status, status)
    t.match(answer.headers.get('content-type'), /^application\/json/)
    t.match(answer.body, { success: false, error: { code, message: /\S{2,}/ } })
    if (details) t.strictSame(answer.body.error.details?.map((detail) => detail.path).sort(), details)
    t.equal(await newest(), before, 'nothing was created')
  })
}

t.test('the closest known option is suggested', async (t) => {
  const { body } = await call<Envelope>('/api/v1/screenshots', create({ url, options: { fullpage: true } }))
  t.match(JSON.stringify(body), /full_page/)
})
