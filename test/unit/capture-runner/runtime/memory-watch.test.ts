import { OUT_OF_MEMORY } from '@tintype/crds/dispatch/dispatch'
import t from 'tap'
import { CaptureError } from '../../../../capture-runner/src/runtime/errors.ts'
import { type BrowserMemory, chooseRenderer, explainByMemory } from '../../../../capture-runner/src/runtime/memory-watch.ts'

/** A browser with renderers of these sizes, which does one capture. */
const aBrowser = (pid: number, sizes: readonly number[], given: Partial<BrowserMemory> = {}): BrowserMemory => ({
  pid,
  bytes: sizes.reduce((sum, bytes) => sum + bytes, 10),
  renderers: sizes.map((bytes, index) => ({ pid: pid * 10 + index, bytes })),
  captures: 1,
  hasCaptured: true,
  ...given,
})
const STANDBY = aBrowser(9, [5], { captures: 0, hasCaptured: false })

t.test('chooseRenderer ends no page while the pod has memory', async (t) => {
  t.equal(chooseRenderer(99, 100, [aBrowser(1, [80])]), undefined)
  t.equal(chooseRenderer(100, 100, []), undefined, 'nor if there is none')
  t.equal(chooseRenderer(100, 100, [aBrowser(1, [])]), undefined)
})

t.test('chooseRenderer ends the largest page of the pod, not that of the browser that noticed', async (t) => {
  const [victim, attacker] = [aBrowser(1, [20]), aBrowser(2, [10, 60])]
  t.match(chooseRenderer(110, 100, [victim, attacker, STANDBY]), { renderer: 21, browser: 2 })
})

t.test('chooseRenderer ends a page of many small frames before a larger page of one', async (t) => {
  const [victim, attacker] = [aBrowser(1, [40]), aBrowser(2, [20, 20, 20])]
  t.match(chooseRenderer(120, 100, [victim, attacker]), { browser: 2 })
})

t.test('chooseRenderer blames a page that the pod could not hold alone either', async (t) => {
  const [small, large] = [aBrowser(1, [20]), aBrowser(2, [90])]
  t.match(chooseRenderer(140, 100, [small, large, STANDBY]), { browser: 2, isOwnFault: true })
  t.match(chooseRenderer(120, 100, [large, STANDBY]), { isOwnFault: true }, 'a standby browser is no capture')
})

t.test('chooseRenderer does not blame a page for the memory of other captures', async (t) => {
  const [other, page] = [aBrowser(1, [45]), aBrowser(2, [50])]
  t.match(chooseRenderer(120, 100, [other, page]), { browser: 2, isOwnFault: false })
  const leaving = aBrowser(1, [45], { captures: 0 })
  t.match(chooseRenderer(120, 100, [leaving, page]), { isOwnFault: false }, 'whose page is still being closed')
  t.match(chooseRenderer(120, 100, [aBrowser(1, [90], { captures: 2 })]), { isOwnFault: false }, 'or in the same browser')
})

const shortage = { hasKernelKilled: false, thresholdBytes: 1_200 * 1024 ** 2 }
const crash = new CaptureError('PAGE_CRASHED', 'the page crashed')

t.test('explainByMemory leaves errors alone while no process was killed', async (t) => {
  t.equal(explainByMemory(crash, shortage), crash)
})

t.test('explainByMemory blames a page for its own memory, with the limit, and finally', async (t) => {
  const error = explainByMemory(new CaptureError('NAVIGATION_FAILED', 'the URL returns no content'), { ...shortage, isOwnFault: true })
  t.match(error, { code: 'PAGE_CRASHED', message: /used too much memory: .* 1200 MiB/, retryable: false })
})

t.test('explainByMemory gives up an attempt whose page was ended for the memory of others, however that shows', async (t) => {
  for (const cause of [crash, new CaptureError('NAVIGATION_FAILED', 'm'), new Error('Target closed')]) {
    const error = explainByMemory(cause, { ...shortage, isOwnFault: false })
    t.match(error, { code: 'INTERNAL_ERROR', retryable: true, givenUpAs: OUT_OF_MEMORY, cause })
  }
})

t.test('explainByMemory gives up an attempt that lost a process to the kernel, but no other failure', async (t) => {
  const killed = { ...shortage, hasKernelKilled: true }
  for (const cause of [crash, new CaptureError('NAVIGATION_FAILED', 'm'), new Error('Target closed')]) {
    t.match(explainByMemory(cause, killed), { code: 'PAGE_CRASHED', retryable: true, givenUpAs: OUT_OF_MEMORY, cause })
  }
  const unrelated = new CaptureError('DNS_FAILED', 'm')
  t.equal(explainByMemory(unrelated, killed), unrelated)
})
