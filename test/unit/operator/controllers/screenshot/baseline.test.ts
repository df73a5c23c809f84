import t from 'tap'
import { derivedId } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot, ScreenshotSpec } from '../../../../../crds/src/kinds/screenshot.ts'
import { toArchivedLine } from '../../../../../crds/src/records/archive.ts'
import { recordKey, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { findBaseline } from '../../../../../operator/src/controllers/screenshot/dispatch.ts'
import { aScreenshot, at, completedStatus, failedStatus, NOON } from '../../../../support/fakes/builders.ts'

const id = derivedId('scr', NOON, 'earlier')
const ignored = [{ selector: 'p', boxes: [{ x: 1, y: 2, width: 3, height: 4 }] }]
const status = completedStatus({ result: { format: 'webp', etag: 'e', ignored } })
const earlier = aScreenshot({ name: toObjectName(id), spec: { accountName: 'red', options: { format: 'webp' } }, status })
const expected = { key: `users/red/${id}.webp`, etag: 'e', ignored }

interface Given {
  live?: Screenshot[]
  objects?: Record<string, string>
  spec?: Partial<ScreenshotSpec>
}

async function find({ live = [], objects = {}, spec = {} }: Given) {
  const reported: unknown[] = []
  const later = aScreenshot({ name: 'later', spec: { accountName: 'red', options: { compareTo: id }, ...spec } })
  const lister = {
    get: (key: string) => live.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key),
    list: () => live,
  }
  const found = await findBaseline(later, later.spec.options?.compareTo ?? '', {
    config: { namespace: 'default' },
    now: () => at(60),
    reflectors: { screenshots: { lister } as never },
    storage: { readText: async (key) => objects[key], exists: async (key) => key in objects },
    report: (object) => reported.push(object),
  })
  return { found, reported }
}
const refusal = (message: RegExp) => ({ name: 'OptionsError', code: 'BASELINE_NOT_FOUND', message })

t.test('findBaseline finds the picture of a live Screenshot', async (t) => {
  t.match((await find({ live: [earlier] })).found, expected)
})

t.test('findBaseline finds a Screenshot whose name a person chose, by its id', async (t) => {
  const named = aScreenshot({ name: 'home', status: completedStatus() })
  const own = derivedId('scr', NOON, named.metadata.uid)
  const { found } = await find({ live: [named], spec: { accountName: 'default', options: { compareTo: own } } })
  t.match(found, { key: `users/default/${own}.png` })
})

t.test('findBaseline finds an archived record, unless it was deleted', async (t) => {
  const objects = { [recordKey('red', id)]: toArchivedLine(earlier) }
  t.match((await find({ objects })).found, expected)
  await t.rejects(find({ objects: { ...objects, [tombstoneKey('red', id)]: '' } }), refusal(/does not exist/))
})

t.test('findBaseline refuses Screenshots of other accounts, and those without a picture', async (t) => {
  const of = (more: Partial<Screenshot>) => ({ live: [{ ...earlier, ...more }] })
  await t.rejects(find({}), refusal(/^compare_to: scr_\w+ does not exist in this account$/))
  await t.rejects(find(of({ spec: { ...earlier.spec, accountName: 'blue' } })), refusal(/does not exist/))
  await t.rejects(find(of({ status: { phase: 'Running' } })), refusal(/has not completed yet/))
  await t.rejects(find(of({ status: failedStatus() })), refusal(/failed/))
  await t.rejects(find(of({ status: completedStatus({ result: { unfit: 'bot_challenge' } }) })), refusal(/bot challenge/))
  await t.rejects(find({ objects: { [recordKey('red', id)]: 'broken' } }), refusal(/does not exist/))
})

t.test('findBaseline uses the copy that a schedule keeps, only in the folder of the account', async (t) => {
  const baseline = { key: 'baselines/red/uid-1/1.png', etag: 'kept' }
  t.strictSame((await find({ spec: { baseline } })).found, baseline)
  await t.rejects(find({ spec: { baseline: { key: `users/blue/${id}.png`, etag: 'kept' } } }), refusal(/another account/))
})
