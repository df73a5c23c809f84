import t from 'tap'
import { toApiUrl } from '../../../../api-gateway/client/src/common/api-url.ts'
import { joinSentences } from '../../../../api-gateway/client/src/common/errors.ts'
import { CaptureFailedError, TintypeError } from '../../../../api-gateway/client/src/index.ts'
import { aRecord } from '../fake-service.ts'

t.test('a CaptureFailedError has the record, the reason and what to do', async (t) => {
  const screenshot = aRecord({ status: 'failed', error: { code: 'DNS_FAILED', message: 'the host name does not resolve' } })
  const error = new CaptureFailedError(screenshot)
  t.ok(error instanceof TintypeError && error instanceof Error)
  t.match(error, {
    name: 'CaptureFailedError',
    message: 'the capture failed with DNS_FAILED: the host name does not resolve. Check the host name and its DNS records.',
    code: 'CAPTURE_FAILED',
    captureCode: 'DNS_FAILED',
    details: { id: 'scr_1', code: 'DNS_FAILED', message: 'the host name does not resolve' },
  })
  t.equal(error.screenshot, screenshot)
  t.equal(new CaptureFailedError(aRecord({ status: 'failed' })).message, 'the capture failed')
})

t.test('joinSentences adds a full stop, and does not repeat a sentence', async (t) => {
  t.equal(joinSentences('a', 'B.'), 'a. B.')
  t.equal(joinSentences('A.', 'B.'), 'A. B.')
  t.equal(joinSentences('A. B.', 'B.'), 'A. B.')
  t.equal(joinSentences('a', undefined), 'a')
})

t.test('toApiUrl accepts base URLs with and without a path', async (t) => {
  t.equal(toApiUrl('https://example.com'), 'https://example.com/api/v1')
  t.equal(toApiUrl('https://example.com/'), 'https://example.com/api/v1')
  t.equal(toApiUrl('http://127.0.0.1:18080//'), 'http://127.0.0.1:18080/api/v1')
  t.equal(toApiUrl('https://example.com/shots/'), 'https://example.com/shots/api/v1')
  t.equal(toApiUrl('https://example.com/api/v1/'), 'https://example.com/api/v1')
  t.equal(toApiUrl('https://example.com/v1'), 'https://example.com/v1')
})

t.test('toApiUrl refuses what is not an http URL', async (t) => {
  for (const url of ['', 'example.com', 'ftp://example.com', 'localhost:8080']) {
    t.throws(() => toApiUrl(url), { code: 'INVALID_CONFIGURATION', message: /^baseUrl is not an http or https URL\. Set it/ }, url)
  }
})
