import t from 'tap'
import { QuotaLedger, type UsageStore } from '../../../../api-gateway/src/quota/quota-ledger.ts'
import { KubeError } from '../../../../crds/client/kube-error.ts'
import type { AccountUsage } from '../../../../crds/src/kinds/account.ts'
import { assertEvery } from '../../../support/accepts.ts'

const NOW = new Date('2026-11-21T10:20:30.456Z')
const conflict = () => new KubeError({ status: 409, reason: 'Conflict', message: 'the object has been modified' })
const noResponse = () => new KubeError({ status: 0, reason: 'TimedOut', message: 'no answer' })

/** One AccountUsage under compare-and-swap, and what its next writes meet. */
class FakeUsage implements UsageStore {
  stored: AccountUsage
  writes = 0
  reads = 0
  onChange: ((usage: AccountUsage) => void) | undefined
  /** Taken from the front: what a write meets instead of success. `written` says whether it was carried out all the same. */
  readonly failures: { error: Error; written?: boolean; before?: () => void }[] = []

  constructor(limit: number, status: AccountUsage['status'] = { period: '2026-11', used: 0 }) {
    const metadata = { name: 'acme', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: NOW.toISOString() }
    this.stored = { metadata, spec: { limit }, status }
  }
  cached = () => this.stored
  read = async () => {
    this.reads++
    return this.stored
  }
  write = async (usage: AccountUsage) => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    const failures = this.failures.shift()
    failures?.before?.()
    if (failures && !failures.written) throw failures.error
    if (usage.metadata.resourceVersion !== this.stored.metadata.resourceVersion) throw conflict()
    this.writes++
    this.change(usage.status)
    if (failures) throw failures.error
    return this.stored
  }
  change(status: AccountUsage['status']): void {
    const resourceVersion = String(Number(this.stored.metadata.resourceVersion) + 1)
    this.stored = { ...this.stored, metadata: { ...this.stored.metadata, resourceVersion }, status }
    this.onChange?.(this.stored)
  }
}

function aLedger(...usage: ConstructorParameters<typeof FakeUsage>) {
  const store = new FakeUsage(...usage)
  const commits: number[] = []
  const metrics = { onReservation: () => {}, onCommit: (waiters: number) => commits.push(waiters), onConflict: () => {} }
  return { store, ledger: new QuotaLedger({ store, holder: 'a', now: () => NOW, random: () => 0, metrics }), commits }
}

const wanted = (id: string, names: readonly string[] = [`${id}-0`]) => ({ id, names, at: NOW, countsForRate: true })

t.test('QuotaLedger batches requests that arrive during an update into the next one', async (t) => {
  const { store, ledger, commits } = aLedger(40)
  const outcomes = await Promise.all(Array.from({ length: 50 }, (_, index) => ledger.reserve(wanted(`r${index}`))))
  t.equal(outcomes.filter(({ granted }) => granted === 1).length, 40)
  assertEvery(t, outcomes.slice(40), ({ refusal }) => refusal === 'quota', 'those who came first are served')
  t.equal(store.stored.status?.used, 40)
  t.strictSame(commits, [1, 49])
})

t.test('QuotaLedger writes nothing for rejected requests', async (t) => {
  const { store, ledger } = aLedger(1, { period: '2026-11', used: 1 })
  t.equal((await ledger.reserve(wanted('r'))).refusal, 'quota')
  t.equal(store.writes, 0)
})

t.test('QuotaLedger evaluates again after another replica has written', async (t) => {
  const { store, ledger } = aLedger(2)
  store.failures.push({ error: conflict(), before: () => store.change({ period: '2026-11', used: 1 }) })
  t.strictSame(await ledger.reserve(wanted('r', ['x', 'y'])), { granted: 1, refusal: 'quota' })
  t.equal(store.stored.status?.used, 2)
})

t.test('QuotaLedger finds its own reservation after an unknown outcome and charges once', async (t) => {
  const { store, ledger } = aLedger(9)
  store.failures.push({ error: noResponse(), written: true })
  t.strictSame(await ledger.reserve(wanted('r')), { granted: 1 })
  t.equal(store.stored.status?.used, 1)
})

t.test('QuotaLedger retries an update that was not written', async (t) => {
  const { store, ledger } = aLedger(9)
  store.failures.push({ error: noResponse() })
  t.strictSame(await ledger.reserve(wanted('r')), { granted: 1 })
  t.equal(store.stored.status?.used, 1)
})

t.test('QuotaLedger gives up after twenty conflicts and sends Retry-After', async (t) => {
  const { store, ledger } = aLedger(9)
  for (let n = 0; n < 20; n++) store.failures.push({ error: conflict() })
  await t.rejects(ledger.reserve(wanted('r')), { code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '1' } })
  t.equal(store.stored.status?.used, 0)
})

t.test('QuotaLedger retries a failed read', async (t) => {
  const { store, ledger } = aLedger(9)
  store.failures.push({ error: conflict() })
  const { read } = store
  let failures = 2
  store.read = async () => {
    if (failures-- > 0) throw noResponse()
    return read()
  }
  t.strictSame(await ledger.reserve(wanted('r')), { granted: 1 })
  t.equal(store.stored.status?.used, 1)
})

t.test('QuotaLedger refunds a reservation that was written although the caller received an error', async (t) => {
  const { store, ledger } = aLedger(9)
  store.failures.push({ error: noResponse(), written: true })
  const { read } = store
  let away = true
  store.read = async () => {
    if (away) throw noResponse()
    return read()
  }
  await t.rejects(ledger.reserve(wanted('r')))
  t.equal(store.stored.status?.used, 1, 'the control: it was written')
  away = false
  await ledger.reserve(wanted('s'))
  t.equal(store.stored.status?.used, 1)
  t.match(store.stored.status?.reservations, [{ id: 's' }])
})

t.test('QuotaLedger does not refund a reservation that is requested again', async (t) => {
  const { store, ledger } = aLedger(9)
  store.failures.push({ error: noResponse(), written: true })
  const { read } = store
  store.read = async () => {
    throw noResponse()
  }
  await t.rejects(ledger.reserve(wanted('r')))
  store.read = read
  t.strictSame(await ledger.reserve(wanted('r')), { granted: 1 })
  await ledger.reserve(wanted('s'))
  t.match(store.stored.status, { used: 2, reservations: [{ id: 'r' }, { id: 's' }] })
})

t.test('QuotaLedger drops settled reservations with the next update and on close', async (t) => {
  const { store, ledger } = aLedger(9)
  await ledger.reserve(wanted('r'))
  ledger.drop('r')
  t.equal(store.writes, 1, 'it is not worth a write')
  await ledger.reserve(wanted('s'))
  t.match(store.stored.status, { used: 2, reservations: [{ id: 's' }] })
  t.equal(store.stored.status?.reservations?.length, 1)
  ledger.drop('s')
  await ledger.close()
  t.strictSame(store.stored.status?.reservations, [])
})

t.test('QuotaLedger writes an update for settled reservations alone when there are many', async (t) => {
  const { store, ledger } = aLedger(1_000)
  await Promise.all(Array.from({ length: 100 }, (_, index) => ledger.reserve(wanted(`r${index}`))))
  const { writes } = store
  for (let index = 0; index < 100; index++) ledger.drop(`r${index}`)
  await ledger.close()
  t.equal(store.writes, writes + 1)
  t.strictSame(store.stored.status?.reservations, [])
})

t.test('QuotaLedger refunds names', async (t) => {
  const { store, ledger } = aLedger(9)
  await ledger.reserve(wanted('r', ['x', 'y']))
  await ledger.release('r', ['y'])
  t.match(store.stored.status, { used: 1, reservations: [{ names: ['x'] }] })
})

t.test('QuotaLedgers of two replicas that share an account count everything once', async (t) => {
  const store = new FakeUsage(150)
  const metrics = { onReservation: () => {}, onCommit: () => {}, onConflict: () => {} }
  const holders = ['a', 'b', 'c']
  const ledgers = holders.map((holder) => new QuotaLedger({ store, holder, now: () => NOW, random: Math.random, metrics }))
  store.onChange = (usage) => {
    for (const ledger of ledgers) ledger.noteChange(usage)
  }
  let made = 0
  const client = async (ledger: QuotaLedger, name: string) => {
    for (let n = 0; n < 20; n++) {
      const { granted } = await ledger.reserve(wanted(`${name}-${n}`))
      ledger.drop(`${name}-${n}`)
      made += granted
    }
  }
  await Promise.all(ledgers.flatMap((ledger, index) => ['x', 'y', 'z'].map((name) => client(ledger, `${holders[index]}-${name}`))))
  t.equal(made, 150, 'of 180')
  t.equal(store.stored.status?.used, 150)
})
