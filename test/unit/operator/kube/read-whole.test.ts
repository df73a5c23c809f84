import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { toCached } from '../../../../crds/client/cached-form.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { readWhole, withWhole } from '../../../../operator/src/kube/read-whole.ts'
import { aScreenshot, completedStatus } from '../../../support/fakes/builders.ts'

const html = 'x'.repeat(300_000)
const aLarge = (name: string, accountName: string, metadata: Screenshot['metadata'] | object = {}) =>
  aScreenshot({ name, metadata, spec: { accountName, options: { html, delay: 5 } } })
const clientOf = (...stored: Screenshot[]) => ({ find: async (name: string) => stored.find(({ metadata }) => metadata.name === name) })

t.test('readWhole adds the options of the API server to the object of the cache, and reads nothing else', async (t) => {
  const stored = aLarge('home', 'red')
  const cached = { ...toCached(stored), status: completedStatus() }
  t.strictSame(await readWhole(cached, clientOf(stored)), { ...stored, status: cached.status })
  const small = aScreenshot()
  t.equal(await readWhole(small, { find: () => Promise.reject(new Error('read')) }), small)
})

t.test('readWhole returns nothing for another object with the name, and for a spec that has changed', async (t) => {
  const stored = aLarge('home', 'red')
  const cached = toCached(stored)
  t.equal(await readWhole(cached, clientOf()), undefined)
  t.equal(await readWhole(cached, clientOf(aLarge('home', 'red', { uid: 'other' }))), undefined)
  t.equal(await readWhole(cached, clientOf(aLarge('home', 'red', { uid: stored.metadata.uid, generation: 2 }))), undefined)
  await t.rejects(
    withWhole(cached, clientOf(), async () => {}),
    { name: 'RetryableError' },
  )
})

t.test('64 large orders at once filled the operator: four are in memory at a time, and two of one account', async (t) => {
  const accounts = ['red', 'red', 'red', 'red', 'blue', 'green', 'black', 'white']
  const all = accounts.map((account, n) => aLarge(`shot-${n}`, account))
  const running: string[] = []
  const peaks = { total: 0, red: 0 }
  const ended = all.map((stored) =>
    withWhole(toCached(stored), clientOf(...all), async (whole) => {
      running.push(whole.spec.accountName ?? '')
      peaks.total = Math.max(peaks.total, running.length)
      peaks.red = Math.max(peaks.red, running.filter((one) => one === 'red').length)
      await setImmediate()
      running.splice(running.indexOf(whole.spec.accountName ?? ''), 1)
      return whole.spec.options?.html?.length
    }),
  )
  const small = withWhole(aScreenshot(), clientOf(), async () => 'at once')
  t.equal(await small, 'at once', 'small ones do not wait')
  t.strictSame(
    await Promise.all(ended),
    all.map(() => html.length),
  )
  t.strictSame(peaks, { total: 4, red: 2 })
})
