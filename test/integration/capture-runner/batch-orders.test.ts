import { setTimeout as sleep } from 'node:timers/promises'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import t from 'tap'
import { capture } from '../../../capture-runner/src/capture/capture.ts'
import { createMemoryWatch } from '../../../capture-runner/src/runtime/memory-watch.ts'
import { servePages } from './stage/page-server.ts'
import { LOOPBACK_POLICY, openStudio } from './stage/studio.ts'

// Runs batch orders like a runner, with a storage that accepts everything.

const site = await servePages({
  '/': '<!doctype html><body style="background:#0f0"><p>Text.</p><script src="/shared.js"></script>',
  '/shared.js': (_, response) =>
    void response.writeHead(200, { 'content-type': 'text/javascript', 'cache-control': 'max-age=600, immutable' }).end('var shared'),
  '/store': (request, response) => void request.resume().once('end', () => response.end()),
})
const studio = await openStudio()
t.teardown(async () => {
  await studio.close()
  await site.close()
})
const parts = {
  browsers: studio.browsers,
  policy: LOOPBACK_POLICY,
  memory: createMemoryWatch({ limitBytes: undefined, log: { warn() {} } as never }),
  httpCache: studio.httpCache,
}

/** The page's requests during one capture, and the runner's report. */
async function carryOut(change: Partial<CaptureOrder>) {
  site.requests.length = 0
  const order: CaptureOrder = {
    uid: 'u',
    name: 'n',
    namespace: 'default',
    accountName: 'default',
    attempt: 1,
    url: site.url('/'),
    options: { viewportWidth: 300, viewportHeight: 200 },
    upload: { url: site.url('/store'), headers: {}, maxBytes: 1_000_000 },
    deadline: Date.now() + 60_000,
    ...change,
  }
  const { outcome } = await capture(order, parts, new AbortController().signal)
  return { phase: outcome.phase, warnings: outcome.result.warnings ?? [], asked: site.requests.filter((line) => line.startsWith('GET')) }
}

t.test('orders of one batch and account share responses', async (t) => {
  const completed = { phase: 'Completed', warnings: [] }
  const all = ['GET /', 'GET /shared.js']
  t.strictSame(await carryOut({ batchId: 'batch_1' }), { ...completed, asked: all })
  // The response is stored in parallel to the capture.
  for (let look = 0; look < 100 && studio.httpCache.bytes === 0; look++) await sleep(20)
  t.strictSame(await carryOut({ batchId: 'batch_1' }), { ...completed, asked: ['GET /'] })
  t.strictSame(await carryOut({ batchId: 'batch_2' }), { ...completed, asked: all })
  t.strictSame(await carryOut({ batchId: 'batch_1', accountName: 'another' }), { ...completed, asked: all })
})

t.test('an order without a batch shares nothing', async (t) => {
  for (let order = 0; order < 2; order++)
    t.strictSame(await carryOut({}), { phase: 'Completed', warnings: [], asked: ['GET /', 'GET /shared.js'] })
})
