import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { mergePatch } from '../../../crds/client/patch.ts'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot, ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { toArchivedLine } from '../../../crds/src/records/archive.ts'
import { objectKey, recordKey } from '../../../crds/src/records/storage-keys.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus, failedStatus } from '../../support/fakes/builders.ts'
import { ACCOUNT, PICTURE, startStage } from './stage.ts'

// Screenshots that are applied again after their record was archived, as GitOps does. No runner exists, so nothing can be captured.

const stage = await startStage(t)
const { world, get, listIds } = stage
await stage.startOperator()

const apply = (name: string, spec: Partial<ScreenshotSpec> = {}): Promise<Screenshot> =>
  world.screenshots.create({
    metadata: { name },
    spec: { options: { fullPage: true, format: 'png' }, accountName: ACCOUNT, url: `https://example.com/${name}`, ...spec },
  } as unknown as Screenshot)

/** Ends the capture of a Screenshot, and waits until its record is archived. */
async function capture(shot: Screenshot, status = completedStatus()): Promise<string> {
  const id = screenshotIdOf(shot.metadata)
  await world.bucket.putObject('tintype', objectKey(ACCOUNT, id, 'png'), PICTURE)
  const result = { ...status.result, ...(status.phase === 'Completed' ? { fileSizeBytes: PICTURE.length } : {}) }
  const ended = { ...status, result, completionTime: new Date().toISOString() }
  await world.screenshots.patch(shot.metadata.name, mergePatch({ status: ended }), { subresource: 'status' })
  await eventually('the record is archived', async () => (await world.screenshots.find(shot.metadata.name)) === undefined)
  return id
}

const whenRestored = (name: string) =>
  eventually(`${name} is restored`, async () => {
    const shot = await world.screenshots.get(name)
    return shot.status?.restoredFrom !== undefined && shot
  })

/** Waits until the operator wants to capture it. It cannot, because there is no pool. */
const whenWanted = (name: string) =>
  eventually(`${name} waits for its pool`, async () => {
    const shot = await world.screenshots.get(name)
    return findCondition(shot.status?.conditions, 'Succeeded')?.reason === 'PoolNotFound' && shot
  })

t.test('a Screenshot applied again takes the result of its record, and is neither captured nor charged', async (t) => {
  const first = await apply('home')
  const id = await capture(first)
  const before = await get(`/screenshots/${id}`)
  t.equal(before.status, 200)
  const again = await apply('home', { accountName: ACCOUNT, options: { format: 'png', fullPage: true } })
  t.not(screenshotIdOf(again.metadata), id)
  const restored = await whenRestored('home')
  t.match(restored.status, {
    phase: 'Completed',
    restoredFrom: id,
    id,
    storagePath: objectKey(ACCOUNT, id, 'png'),
    result: { ...completedStatus().result, fileSizeBytes: PICTURE.length },
  })
  t.equal(findCondition(restored.status?.conditions, 'Finished')?.status, 'True')
  t.equal(restored.status?.attempt, undefined)
  t.equal((await world.usages.find(ACCOUNT))?.status?.used ?? 0, 0)
  await capture(await apply('later'))
  t.equal((await world.screenshots.get('home')).metadata.uid, again.metadata.uid, 'it stays, because it would be applied again')
  t.strictSame(
    (await listIds()).filter((listed) => listed === id || listed === screenshotIdOf(again.metadata)),
    [id],
    'clients see one record',
  )
  t.strictSame((await get(`/screenshots/${id}`)).body, before.body)
  t.equal((await get(`/screenshots/${screenshotIdOf(again.metadata)}`)).status, 404)
  await world.screenshots.delete('home')
  await capture(await apply('last'))
  t.strictSame((await get(`/screenshots/${id}`)).body, before.body, 'its deletion leaves the record')
  await apply('home')
  t.equal((await whenRestored('home')).status?.restoredFrom, id)
})

t.test('a Screenshot with a name of 253 characters is archived, and takes the result of its record', async (t) => {
  const name = 'n'.repeat(253)
  const id = await capture(await apply(name))
  await apply(name)
  t.equal((await whenRestored(name)).status?.restoredFrom, id)
})

t.test('a Screenshot with another spec is captured', async (t) => {
  await capture(await apply('other'))
  await apply('other', { options: { fullPage: false } })
  t.equal((await whenWanted('other')).status?.restoredFrom, undefined)
})

t.test('a Screenshot whose record failed or was deleted is captured', async (t) => {
  await capture(await apply('failed'), failedStatus())
  await apply('failed')
  t.equal((await whenWanted('failed')).status?.restoredFrom, undefined)
  const id = await capture(await apply('deleted'))
  t.equal((await stage.remove(id)).status, 204)
  await apply('deleted')
  t.equal((await whenWanted('deleted')).status?.restoredFrom, undefined)
})

t.test('a result that the API server refuses is captured anew', async (t) => {
  const id = await capture(await apply('refused'))
  const key = recordKey(ACCOUNT, id)
  const record = await stage.archived(id)
  const result = { ...record.status?.result, pageTitle: 'x'.repeat(1_000) }
  await world.bucket.putObject('tintype', key, toArchivedLine({ ...record, status: { ...record.status, result } }))
  await apply('refused')
  t.equal((await whenWanted('refused')).status?.restoredFrom, undefined)
})

t.test(
  'a Screenshot with 300 KB or 1.2 MB of html is archived whole, shown as before, and takes the result of its record when applied again',
  async (t) => {
    for (const size of [300_000, 1_200_000]) {
      const name = `large-${size}`
      const html = `<!doctype html><p>${'é '.repeat(size / 3)}`
      const hideSelectors = Array.from({ length: 30 }, (_, n) => `#a${n}${'x'.repeat(400)}`)
      const options = { html, hideSelectors }
      const first = await apply(name, { options })
      const shownId = screenshotIdOf(first.metadata)
      const { body: pending } = await eventually('the gateway shows it', async () => {
        const shown = await get(`/screenshots/${shownId}`)
        return shown.status === 200 && shown
      })
      t.equal(pending.options.html, `${html.slice(0, 64)}…`)
      t.strictSame(pending.options.hide_selectors, hideSelectors)
      const listed = async (one: string) =>
        (await get('/screenshots?limit=100')).body.data.find((shown: { id: string }) => shown.id === one)
      t.match(await listed(shownId), { options: { html: pending.options.html, hide_selectors: '…' } })
      const id = await capture(first)
      t.ok(isDeepStrictEqual((await stage.archived(id)).spec, first.spec), 'the record has all of it')
      t.strictSame((await get(`/screenshots/${id}`)).body.options, pending.options)
      t.equal((await listed(id)).options.html, pending.options.html)
      await apply(name, { options })
      t.equal((await whenRestored(name)).status?.restoredFrom, id)
      await world.screenshots.delete(name)
      await apply(name, { options: { ...options, html: `${html}<p>` } })
      t.equal((await whenWanted(name)).status?.restoredFrom, undefined)
    }
  },
)
