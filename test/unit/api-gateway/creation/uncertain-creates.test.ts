import t from 'tap'
import { unavailable } from '../../../../api-gateway/src/common/errors.ts'
import { UncertainCreates } from '../../../../api-gateway/src/creation/uncertain-creates.ts'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { CountingQuota } from '../fake-stores.ts'
import { aScreenshot, FakeArchive, FakeScreenshots, NOW } from '../fakes.ts'

const account = {
  metadata: { name: 'acme', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: NOW.toISOString() },
  spec: { plan: 'scale' },
} as const

/** Five that are charged, and a look at them as soon as it is asked for. */
async function aWorld() {
  const ids = Array.from({ length: 5 }, () => newId('scr', NOW))
  const deps = { screenshots: new FakeScreenshots(), archive: new FakeArchive(), quota: new CountingQuota() }
  await deps.quota.reserve({ account, reservation: 'res_1', names: ids.map((id) => id.replace('_', '-')), at: NOW })
  const waits: number[] = []
  const uncertainCreates = new UncertainCreates({ ...deps, log: { info() {}, warn() {} }, wait: async () => waits.push(1) })
  return { ids, deps, waits, settle: () => uncertainCreates.add({ account: 'acme', reservation: 'res_1', ids }) }
}

t.test(
  'UncertainCreates refunds screenshots that were never created and keeps the charge for live, archived and deleted ones',
  async (t) => {
    const { ids, deps, settle } = await aWorld()
    const [live = '', archived = '', deleted = ''] = ids
    deps.screenshots.put(aScreenshot({ id: live }))
    await deps.archive.put('acme', [aScreenshot({ id: archived })])
    await deps.archive.markDeleted('acme', deleted)
    await settle()
    t.strictSame([deps.quota.used, deps.quota.settled], [3, ['res_1']])
  },
)

t.test('UncertainCreates retries when a lookup fails, and after the last check leaves the rest to the operator', async (t) => {
  const { deps, waits, settle } = await aWorld()
  let away = 2
  const { findLatest } = deps.screenshots
  deps.screenshots.findLatest = async (id) => {
    if (away-- > 0) throw unavailable('away')
    return findLatest.call(deps.screenshots, id)
  }
  await settle()
  t.strictSame([waits.length, deps.quota.used, deps.quota.settled.length], [3, 0, 1])
  const other = await aWorld()
  other.deps.screenshots.findLatest = async () => {
    throw unavailable('away')
  }
  await other.settle()
  t.strictSame([other.waits.length, other.deps.quota.used, other.deps.quota.settled], [5, 5, []])
})
