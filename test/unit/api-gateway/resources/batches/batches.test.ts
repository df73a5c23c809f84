import t from 'tap'
import { toBatchResult } from '../../../../../api-gateway/src/resources/batches/batch-result.ts'
import { parseBatchBody } from '../../../../../api-gateway/src/resources/batches/create-body.ts'
import { DEFAULT_EGRESS_RULES } from '../../../../../crds/src/addresses/address-rules.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { aGateway, NOW, SCREENSHOT_ID } from '../../fakes.ts'
import { codesOf } from '../../requests.ts'

const rules = { ...DEFAULT_EGRESS_RULES, allowedHosts: ['*'] }
const url = 'https://example.com/'
const urls = [1, 2, 3].map((n) => `https://example.com/${n}`)

t.test('parseBatchBody takes addresses in their order, doubles too, with one set of options', async (t) => {
  const options = { full_page: true, external_identifier: 'run-7' }
  t.strictSame(parseBatchBody({ urls: [url, 'HTTP://example.com', url], options, attachment_name: 'a.png' }, rules), {
    targets: [{ url }, { url: 'http://example.com' }, { url }],
    options: { fullPage: true },
    record: { externalIdentifier: 'run-7', attachmentName: 'a.png' },
    ignored: [],
  })
})

t.test('parseBatchBody takes 100 addresses', async (t) => {
  const most = Array.from({ length: 100 }, () => url)
  t.equal(parseBatchBody({ urls: most }, rules).targets.length, 100)
})

t.test('parseBatchBody takes credentials out of each address, and private options for all', async (t) => {
  const body = { urls: ['https://ada:pw@example.com/', url], options: { headers: { 'X-Key': 'k' } } }
  t.match(parseBatchBody(body, rules), {
    targets: [{ url, privateOptions: { basicAuthUsername: 'ada', basicAuthPassword: 'pw' } }, { url }],
    privateOptions: { headers: { 'X-Key': 'k' } },
  })
})

const [INVALID, NOT_ALLOWED] = ['VALIDATION_ERROR', 'URL_NOT_ALLOWED']
const longPassword = `http://ada:${'x'.repeat(257)}@proxy.example`

const refused: [name: string, body: unknown, ...problems: string[]][] = [
  ['nothing', undefined, INVALID, ' required'],
  ['no urls', {}, INVALID, 'urls required'],
  ['a text for urls', { urls: url }, INVALID, 'urls invalid_type'],
  ['an empty list', { urls: [] }, INVALID, 'urls too_small'],
  ['101 urls', { urls: Array.from({ length: 101 }, () => 'bad') }, INVALID, 'urls too_big'],
  ['a number for a url', { urls: [url, 7] }, INVALID, 'urls[1] invalid_type'],
  ['every bad url by its place', { urls: ['ftp://a', url, 'b'] }, INVALID, 'urls[0] unsupported_scheme', 'urls[2] invalid_url'],
  [
    'refused addresses alone',
    { urls: ['http://10.0.0.1/', url, 'http://[::1]/'] },
    NOT_ALLOWED,
    'urls[0] url_not_allowed',
    'urls[2] url_not_allowed',
  ],
  ['a url among the options', { urls: [url], options: { url } }, INVALID, 'options.url unknown_field'],
  ['markup', { urls: [url], options: { html: 'a' } }, INVALID, 'options.html contradiction'],
  ['a long password in a proxy', { urls: [url], options: { proxy: longPassword } }, INVALID, 'options.proxy too_big'],
  ['how to answer', { urls: [url], async: false }, INVALID, 'async unknown_field'],
  ['a misleading file name', { urls: [url], attachment_name: 'bill\u202egnp.exe' }, INVALID, 'attachment_name invalid_value'],
  ['a file name with a path', { urls: [url], attachment_name: '../a' }, INVALID, 'attachment_name invalid_format'],
]
for (const [name, body, ...wanted] of refused)
  t.test(`parseBatchBody refuses ${name}`, async (t) =>
    t.strictSame(
      codesOf(() => parseBatchBody(body, rules)),
      wanted,
    ),
  )

t.test('toBatchResult has failed_jobs and warning only when a URL was not queued', async (t) => {
  t.strictSame(toBatchResult('batch_1', [{ id: SCREENSHOT_ID, url }]), {
    batch_id: 'batch_1',
    screenshots: [{ id: SCREENSHOT_ID, url_to_capture: url, status: 'pending', created_at: NOW.toISOString() }],
    total: 1,
    successful: 1,
    failed: 0,
    estimated_time: '10-60s',
  })
  t.match(toBatchResult('batch_1', [{ id: SCREENSHOT_ID, url, refusal: { code: 'USAGE_LIMIT_REACHED', message: 'no more' } }]), {
    screenshots: [{ status: 'failed' }],
    successful: 0,
    failed: 1,
    failed_jobs: [{ id: SCREENSHOT_ID, url, error: 'USAGE_LIMIT_REACHED: no more' }],
    warning: '1 of 1 screenshots were not queued: see failed_jobs',
  })
})

t.test('POST /screenshots/batch rejects the whole batch for an invalid url, and creates and charges nothing', async (t) => {
  const { call, screenshots, quota } = aGateway()
  const { body } = await call('POST', '/screenshots/batch', { urls: [...urls, 'http://10.0.0.1/'] })
  t.match(body, { error: { code: 'URL_NOT_ALLOWED', details: [{ path: 'urls[3]' }] } })
  t.strictSame([screenshots.objects.size, quota.used], [0, 0])
})

t.test('GET /batches/:id counts the items by outcome, without deleted ones', async (t) => {
  const { call, screenshots } = aGateway()
  const made = await call('POST', '/screenshots/batch', { urls, external_identifier: 'run-7' })
  const { batch_id: id, screenshots: items } = made.body
  t.strictSame(Object.keys(made.body), ['batch_id', 'screenshots', 'total', 'successful', 'failed', 'estimated_time'])
  t.match(made, { status: 202, headers: { location: `/api/v1/batches/${id}` } })
  const [first, second, third] = items.map((item: { id: string }) => item.id)
  const end = (one: string, status: object) => {
    const shot = screenshots.objects.get(one)!
    t.match(shot.spec, { batchId: id, externalIdentifier: 'run-7' })
    screenshots.put({ ...shot, status: { ...status, completionTime: NOW.toISOString() } as never })
  }
  end(first, { phase: 'Completed', result: { sizeBytes: 1 } })
  end(second, { phase: 'Failed', result: { error: { code: 'DNS_FAILED', message: 'no such host' } } })
  const read = async () => (await call('GET', `/batches/${id}`)).body
  t.match(await read(), {
    success: true,
    data: {
      ...{ batch_id: id, created_at: NOW.toISOString(), total: 3, pending: 1, completed: 1, failed: 1 },
      screenshots: [{ id: first, url_to_capture: urls[0] }, { id: second }, { id: third, status: 'pending' }],
    },
  })
  screenshots.remove(first)
  t.match(await read(), { data: { total: 2, completed: 0 } })
})

t.test('GET /batches/:id returns the same 404 for a batch of another account as for an unknown one', async (t) => {
  const { call, archive } = aGateway()
  const foreign = newId('batch', NOW)
  await archive.putBatch('other', foreign, [newId('scr', NOW)])
  for (const id of [foreign, newId('batch', NOW), 'nonsense'])
    t.match(await call('GET', `/batches/${id}`), { status: 404, body: { error: { code: 'NOT_FOUND', message: 'batch not found' } } }, id)
})
