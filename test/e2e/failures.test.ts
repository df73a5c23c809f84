import t from 'tap'
import { capture } from '../support/cluster/api-client.ts'
import { NAMESPACE, STORE } from '../support/cluster/tested-release.ts'
import { page } from '../support/servers/pages.ts'

// Each rejection and each network failure has its own code, over http and https, and never a picture of an error page.

const https = (path: string): string => page(path).replace('http:', 'https:')

const cases: { name: string; url: string; options?: Record<string, unknown>; code: string }[] = [
  { name: 'a name that does not exist', url: 'http://no-such-name.sites.svc.cluster.local/', code: 'DNS_FAILED' },
  { name: 'a name that does not exist, over https', url: 'https://no-such-name.sites.svc.cluster.local/', code: 'DNS_FAILED' },
  {
    name: 'a redirect to a cluster name that is not on the allow-list',
    url: page(`/redirect?to=http://${STORE}.${NAMESPACE}.svc.cluster.local:9000/`),
    code: 'BLOCKED_ADDRESS',
  },
  {
    name: 'a redirect to a cluster name that is not on the allow-list, over https',
    url: page('/redirect?to=https://kubernetes.default.svc.cluster.local/'),
    code: 'BLOCKED_ADDRESS',
  },
  { name: 'a redirect to a metadata address', url: page('/redirect?to=http://169.254.169.254/latest/'), code: 'BLOCKED_ADDRESS' },
  { name: 'a redirect to the pod’s own loopback', url: page('/redirect?to=http://127.0.0.1:8080/healthz'), code: 'BLOCKED_ADDRESS' },
  { name: 'an untrusted certificate', url: https('/quadrants'), code: 'TLS_ERROR' },
  { name: 'a port where nothing listens', url: 'http://pages.sites.svc.cluster.local:8089/', code: 'NAVIGATION_FAILED' },
  { name: 'a port where nothing listens, over https', url: 'https://pages.sites.svc.cluster.local:8089/', code: 'NAVIGATION_FAILED' },
  { name: 'a connection that is reset', url: page('/hang-up'), code: 'NAVIGATION_FAILED' },
  { name: 'a server that never responds', url: page('/never'), options: { timeout: 2000 }, code: 'TIMEOUT' },
  { name: 'a redirect loop', url: page('/redirect-loop'), code: 'TOO_MANY_REDIRECTS' },
  { name: 'a download', url: page('/download'), code: 'UNSUPPORTED_CONTENT' },
  {
    name: 'a selector that never matches',
    url: page('/quadrants'),
    options: { wait_for_selector: '#never', wait_for_selector_timeout: 2000 },
    code: 'SELECTOR_NOT_FOUND',
  },
  {
    name: 'a click target that never appears',
    url: page('/quadrants'),
    options: { click: '#never', wait_for_selector_timeout: 2000 },
    code: 'SELECTOR_NOT_FOUND',
  },
  { name: 'an invalid selector', url: page('/quadrants'), options: { selector: 'div[' }, code: 'INVALID_SELECTOR' },
  { name: 'an invalid mask selector', url: page('/quadrants'), options: { mask_selectors: ['div['] }, code: 'INVALID_SELECTOR' },
  { name: 'a script with a syntax error', url: page('/quadrants'), options: { init_script: 'if (' }, code: 'INVALID_SCRIPT' },
  { name: 'a script that throws', url: page('/quadrants'), options: { scripts: 'throw new Error("no such thing")' }, code: 'SCRIPT_ERROR' },
]

for (const { name, url, options = {}, code } of cases) {
  t.test(`${name} ends with ${code}`, async (t) => {
    const record = await capture(url, options, 150_000)
    t.match(record, { status: 'failed', error: { code }, download_url: null, storage_path: null })
    t.ok((record.error?.message.length ?? 0) > 10, 'the message says more than the code')
  })
}

t.test('an endless script ends, and the next capture works', { timeout: 300_000 }, async (t) => {
  const record = await capture(page('/loop'), { delay: 1000, timeout: 3000, capture_timeout: 4000 }, 240_000)
  t.match(record, { status: 'failed', error: { code: 'TIMEOUT' } })
  const next = await capture(page('/quadrants'))
  t.equal(next.status, 'completed')
})

t.test('a page that uses up memory crashes without affecting others', { timeout: 300_000 }, async (t) => {
  const record = await capture(page('/memory'), { delay: 30_000 }, 240_000)
  t.match(record, { status: 'failed', error: { code: 'PAGE_CRASHED' } })
  const next = await capture(page('/quadrants'))
  t.equal(next.status, 'completed')
})
