import t from 'tap'
import { newId, screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { isReused } from '../../../../../crds/src/records/cache.ts'
import { cacheEntryKey, objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import { PictureCache } from '../../../../../operator/src/controllers/screenshot/picture-cache.ts'
import { aScreenshot, at, completedStatus, NOON } from '../../../../support/fakes/builders.ts'

const checks = { report: () => {}, now: () => at(60) }
const hash = 'a'.repeat(64)
const log = { debug() {}, info() {}, warn() {}, error() {} } as never
const newName = () => toObjectName(newId('scr', NOON))

/** A store of texts and etags, with a finished capture in it. */
async function aCache() {
  const texts = new Map<string, string>()
  const tags = new Map<string, string>()
  const storage = {
    readText: async (key: string) => texts.get(key),
    write: async (key: string, text: string) => void texts.set(key, text),
    copy: async ({ from, etag, to }: { from: string; etag: string; to: string }) => {
      if (tags.get(from) !== etag) return undefined
      tags.set(to, `${etag}-copy`)
      return `${etag}-copy`
    },
  }
  const artifacts = [{ type: 'html' as const, fileSizeBytes: 3, etag: 'h' }]
  const result = { ...completedStatus().result, etag: 'p', timings: { navigate: 1 }, artifacts }
  const done = aScreenshot({ name: newName(), spec: { cacheAs: hash, options: { saveHtml: true } }, status: completedStatus({ result }) })
  const id = screenshotIdOf(done.metadata)
  tags.set(objectKey('default', id, 'png'), 'p').set(objectKey('default', id, 'html'), 'h')
  const cache = new PictureCache({ ...checks, storage, log })
  await cache.keep(done)
  return { cache, texts, tags, id }
}

const wants = (status: Screenshot['status'] = {}) =>
  aScreenshot({ name: newName(), spec: { cachedFrom: hash, options: { saveHtml: true } }, status })

t.test('PictureCache completes a pending Screenshot with a copy of the earlier picture and its files', async (t) => {
  const { cache, tags, id } = await aCache()
  const shot = wants()
  const entry = await cache.find('default/a', shot)
  t.match(entry, { id, result: { etag: 'p' } })
  const result = await cache.take('default/a', shot, entry!)
  t.match(result, { etag: 'p-copy', width: 1920, artifacts: [{ type: 'html', etag: 'h-copy' }] })
  t.notOk(result && 'timings' in result)
  t.equal(tags.get(objectKey('default', screenshotIdOf(shot.metadata), 'png')), 'p-copy')
})

t.test('PictureCache finds no picture after a runner was requested, or without cachedFrom', async (t) => {
  const { cache } = await aCache()
  t.equal(await cache.find('k', wants({ phase: 'Pending', attempt: 1 })), undefined)
  t.equal(await cache.find('k', wants({ phase: 'Pending', handedBack: 1 })), undefined)
  t.equal(await cache.find('k', wants({ phase: 'Running', attempt: 1 })), undefined)
  t.equal(await cache.find('k', aScreenshot()), undefined)
})

t.test('PictureCache remembers that a picture no longer exists, until forget', async (t) => {
  const { cache, tags, id } = await aCache()
  const shot = wants()
  const entry = await cache.find('k', shot)
  tags.delete(objectKey('default', id, 'html'))
  t.equal(await cache.take('k', shot, entry!), undefined, 'an artifact is part of the picture')
  t.equal(await cache.find('k', shot), undefined)
  cache.forget('k')
  t.ok(await cache.find('k', shot))
})

t.test('PictureCache stores only new pictures, so that reuse does not extend their age', async (t) => {
  const { cache, texts } = await aCache()
  texts.clear()
  const reused = aScreenshot({ spec: { cachedFrom: hash }, status: completedStatus({ attempt: undefined }) })
  t.ok(isReused(reused))
  await cache.keep(reused)
  await cache.keep(aScreenshot({ status: completedStatus() }))
  await cache.keep(aScreenshot({ spec: { cacheAs: hash }, status: { phase: 'Failed' } }))
  t.equal(texts.size, 0)
  await cache.keep(aScreenshot({ spec: { cachedFrom: hash }, status: completedStatus() }))
  t.strictSame([...texts.keys()], [cacheEntryKey('default', hash)])
})

t.test('PictureCache stores the retention of a picture’s request', async (t) => {
  const { cache, texts } = await aCache()
  await cache.keep(aScreenshot({ spec: { cacheAs: hash, retentionDays: 2 }, status: completedStatus() }))
  const { keptUntil } = JSON.parse(texts.get(cacheEntryKey('default', hash)) ?? '')
  t.equal(Date.parse(keptUntil), NOON.getTime() + 2 * 86_400_000)
})

t.test('PictureCache ignores an unavailable store', async (t) => {
  const away = async () => {
    throw new Error('away')
  }
  const cache = new PictureCache({ ...checks, storage: { readText: away, write: away, copy: away }, log })
  await cache.keep(aScreenshot({ spec: { cacheAs: hash }, status: completedStatus() }))
  await t.rejects(cache.find('k', wants()), /away/)
})
