import t from 'tap'
import { z } from 'zod'
import { loadConfig } from '../../../../operator/src/runtime/config.ts'

const least = {
  TINTYPE_NAMESPACE: 'tintype',
  TINTYPE_POD_NAME: 'operator-0',
  TINTYPE_POD_UID: 'uid',
  TINTYPE_STORAGE_ACCESS_KEY: 'access',
  TINTYPE_STORAGE_SECRET_KEY: 'secret',
}

t.test('loadConfig applies defaults', async (t) => {
  t.match(loadConfig(least), {
    release: 'tintype',
    metricsPort: 9090,
    storage: { endpoint: 'http://tintype-minio:9000', bucket: 'tintype' },
    bootstrap: { enabled: true, plan: 'scale' },
    admissionPolicy: { name: 'tintype-runner-status', hash: undefined },
    trustedSpecPolicy: { name: 'tintype-trusted-spec', hash: undefined },
    trustedStatusPolicy: { name: 'tintype-trusted-status', hash: undefined },
    webhook: { maxPostsPerAccount: 32, timeoutMilliseconds: 5_000, retryDelaysMilliseconds: [60_000, 4_500_000], allowedCidrs: [] },
    lease: { leaseDurationMilliseconds: 15_000, renewDeadlineMilliseconds: 10_000, retryMilliseconds: 2_000 },
  })
})

t.test('loadConfig reads lists, switches and numbers', async (t) => {
  const config = loadConfig({
    ...least,
    TINTYPE_RELEASE: 'shots',
    TINTYPE_BOOTSTRAP_ENABLED: 'false',
    TINTYPE_WEBHOOK_ALLOWED_CIDRS: '10.0.0.0/8, 192.168.0.0/16',
    TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS: '1000,2000',
  })
  t.equal(config.bootstrap.enabled, false)
  t.equal(config.admissionPolicy.name, 'shots-runner-status')
  t.strictSame(config.webhook.allowedCidrs, ['10.0.0.0/8', '192.168.0.0/16'])
  t.strictSame(config.webhook.retryDelaysMilliseconds, [1_000, 2_000])
})

t.test('loadConfig reports all problems at once', async (t) => {
  const wrong = { TINTYPE_STORAGE_ENDPOINT: 'ftp://minio', TINTYPE_METRICS_PORT: 'many', TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS: 'soon' }
  try {
    loadConfig(wrong)
    t.fail('nothing was rejected')
  } catch (error) {
    const text = z.prettifyError(error as z.ZodError)
    for (const name of [...Object.keys(wrong), ...Object.keys(least)]) t.ok(text.includes(name), name)
  }
})
