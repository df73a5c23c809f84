import t from 'tap'
import { ApiError, type Problem } from '../../../../../api-gateway/src/common/errors.ts'
import { toBatchResult } from '../../../../../api-gateway/src/resources/batches/batch-result.ts'
import { parseBatchBody } from '../../../../../api-gateway/src/resources/batches/create-body.ts'
import { DEFAULT_EGRESS_RULES } from '../../../../../crds/src/addresses/address-rules.ts'
import { NOW, SCREENSHOT_ID } from '../../fakes.ts'

const rules = { ...DEFAULT_EGRESS_RULES, allowedHosts: ['*'] }
const url = 'https://example.com/'

t.test('parseBatchBody takes addresses in their order, doubles too, with one set of options', async (t) => {
  const body = {
    urls: [url, 'HTTP://example.com', url],
    options: { full_page: true, external_identifier: 'run-7' },
    attachment_name: 'a.png',
  }
  t.strictSame(parseBatchBody(body, rules), {
    targets: [{ url }, { url: 'http://example.com' }, { url }],
    options: { fullPage: true },
    record: { externalIdentifier: 'run-7', attachmentName: 'a.png' },
    ignored: [],
  })
})

t.test('parseBatchBody takes credentials out of each address, and private options for all', async (t) => {
  const body = { urls: ['https://ada:pw@example.com/', url], options: { headers: { 'X-Key': 'k' } } }
  t.match(parseBatchBody(body, rules), {
    targets: [{ url, privateOptions: { basicAuthUsername: 'ada', basicAuthPassword: 'pw' } }, { url }],
    privateOptions: { headers: { 'X-Key': 'k' } },
  })
})

const problems = (body: unknown): string[] => {
  try {
    parseBatchBody(body, rules)
    return []
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return [error.code, ...(error.details as readonly Problem[]).map(({ path, code }) => `${path} ${code}`)]
  }
}

const refused: [string, unknown, string[]][] = [
  ['nothing', undefined, ['VALIDATION_ERROR', ' required']],
  ['no urls', {}, ['VALIDATION_ERROR', 'urls required']],
  ['an empty list', { urls: [] }, ['VALIDATION_ERROR', 'urls too_small']],
  ['101 urls', { urls: Array.from({ length: 101 }, () => 'bad') }, ['VALIDATION_ERROR', 'urls too_big']],
  ['a number for a url', { urls: [url, 7] }, ['VALIDATION_ERROR', 'urls[1] invalid_type']],
  [
    'every bad url by its place',
    { urls: ['ftp://a', url, 'b'] },
    ['VALIDATION_ERROR', 'urls[0] unsupported_scheme', 'urls[2] invalid_url'],
  ],
  [
    'refused addresses alone',
    { urls: ['http://10.0.0.1/', url, 'http://[::1]/'] },
    ['URL_NOT_ALLOWED', 'urls[0] url_not_allowed', 'urls[2] url_not_allowed'],
  ],
  ['a url among the options', { urls: [url], options: { url } }, ['VALIDATION_ERROR', 'options.url unknown_field']],
  ['markup', { urls: [url], options: { html: 'a' } }, ['VALIDATION_ERROR', 'options.html contradiction']],
  [
    'a long password in a proxy',
    { urls: [url], options: { proxy: `http://ada:${'x'.repeat(257)}@proxy.example` } },
    ['VALIDATION_ERROR', 'options.proxy too_big'],
  ],
  ['how to answer', { urls: [url], async: false }, ['VALIDATION_ERROR', 'async unknown_field']],
  [
    'a file name that reads backward',
    { urls: [url], attachment_name: 'bill\u202egnp.exe' },
    ['VALIDATION_ERROR', 'attachment_name invalid_value'],
  ],
  ['a file name with a path', { urls: [url], attachment_name: '../a' }, ['VALIDATION_ERROR', 'attachment_name invalid_format']],
]
for (const [name, body, wanted] of refused) t.test(`parseBatchBody refuses ${name}`, async (t) => t.strictSame(problems(body), wanted))

t.test('toBatchResult has failed_jobs and warning only when a URL was not queued', async (t) => {
  const created_at = NOW.toISOString()
  t.strictSame(toBatchResult('batch_1', [{ id: SCREENSHOT_ID, url }]), {
    batch_id: 'batch_1',
    screenshots: [{ id: SCREENSHOT_ID, url_to_capture: url, status: 'pending', created_at }],
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
