import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { recordKey, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { type SettleContext, settle } from '../../../../../operator/src/controllers/quota/observe.ts'

const NOW = new Date('2026-11-21T10:20:30.456Z')
const id = newId('scr', NOW)
const name = toObjectName(id)
const reservation = { id: 'res_1', names: [name], gateway: 'dead', at: NOW.toISOString() }

/** Sources without any data. */
const context = (changes: Partial<SettleContext> = {}): SettleContext => ({
  hasSeen: () => false,
  screenshots: { find: async () => undefined },
  storage: { exists: async () => false },
  ...changes,
})
const has = (wanted: string) => ({ exists: async (key: string) => key === wanted })

const traces: { name: string; world: Partial<SettleContext> }[] = [
  { name: 'is in the cache, or was recently', world: { hasSeen: (asked) => asked === name } },
  { name: 'is at the API server', world: { screenshots: { find: async () => ({}) as Screenshot } } },
  { name: 'was deleted over REST', world: { storage: has(tombstoneKey('acme', id)) } },
  { name: 'is archived', world: { storage: has(recordKey('acme', id)) } },
]
for (const { name: what, world } of traces) {
  t.test(`settle keeps a unit charged for a name that ${what}`, async (t) => {
    t.strictSame(await settle('acme', reservation, context(world)), { reservation, neverMade: [] })
  })
}

t.test('settle returns the unit of a name without any trace', async (t) => {
  t.strictSame((await settle('acme', reservation, context())).neverMade, [name])
})

t.test('settle settles nothing while the bucket is unavailable', async (t) => {
  const exists = () => Promise.reject(new Error('the store is unavailable'))
  await t.rejects(settle('acme', reservation, context({ storage: { exists } })))
})

t.test('settle keeps a unit charged for a name that no gateway creates', async (t) => {
  t.strictSame((await settle('acme', { ...reservation, names: ['odd'] }, context())).neverMade, [])
})
