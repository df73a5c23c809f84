// A script that waits for the page's virtual clock in a loop ends, and pages cannot tell that the clock is not the browser's own.

import t from 'tap'
import { DEFAULT_CONTEXT } from '../../../capture-runner/src/plan/plan.ts'
import { servePages } from './stage/page-server.ts'
import { openStudio } from './stage/studio.ts'

const signal = AbortSignal.timeout(120_000)
const studio = await openStudio()
const LOOP = 'const began = performance.now(); let reads = 0; while (performance.now() - began < 50) reads++;'
const site = await servePages({
  '/': '<!doctype html><title>A page</title><body><p>A page.</p></body>',
  '/worker.js': (_, response) =>
    void response.writeHead(200, { 'content-type': 'text/javascript' }).end(`${LOOP} onmessage = () => { ${LOOP} postMessage(reads > 1000) }`),
})
t.teardown(async () => {
  await studio.close()
  await site.close()
})

const EVALUATED = { returnByValue: true, awaitPromise: true }

/** Opens the page in a tab whose clock stands still. */
async function openStill(plan = DEFAULT_CONTEXT) {
  const { armEgress } = await import('../../../capture-runner/src/capture/arm-egress.ts')
  const lease = await studio.browsers.lend('default', plan, signal)
  t.teardown(() => studio.browsers.takeBack(lease, true))
  void armEgress
  const { session, mainFrame } = lease.tab
  await session.send('Page.setDocumentContent', { frameId: mainFrame, html: '<p>A page.</p>' })
  await session.send('Emulation.setVirtualTimePolicy', { policy: 'pause' })
  const read = async (expression: string) => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', { expression, ...EVALUATED })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  return { session, read }
}

/** Expressions that read the time, in milliseconds. */
const READS = [
  'Date.now()',
  '+new Date()',
  'Date.parse(Date()) + new Date().getMilliseconds()',
  '+new (class extends Date {})()',
  'performance.now()',
  "performance.mark('now').startTime",
  "performance.measure('now').duration",
  'Temporal.Now.instant().epochMilliseconds',
  'Temporal.Now.zonedDateTimeISO().epochMilliseconds',
  'Temporal.Now.plainDateTimeISO().millisecond',
  'Temporal.Now.plainTimeISO().millisecond',
  "Number(new Intl.DateTimeFormat('en', { fractionalSecondDigits: 3 }).format())",
  "Number(new Intl.DateTimeFormat('en', { fractionalSecondDigits: 3 }).formatToParts()[0].value)",
  "new Event('now').timeStamp",
]

t.test('a loop ends that waits for a clock that stands still, by each way to read it', async (t) => {
  const { read } = await openStill()
  for (const expression of READS) {
    const began = performance.now()
    t.type(await read(`(() => { const read = () => ${expression}; const before = read(); let later; while ((later = read()) === before || later < before); return later - before })()`), 'number', expression)
    console.error(expression, Math.round(performance.now() - began))
  }
})
