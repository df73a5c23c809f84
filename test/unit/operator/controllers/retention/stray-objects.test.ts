import t from 'tap'
import { removeStrayObjects } from '../../../../../operator/src/controllers/retention/stray-objects.ts'
import { at, NOON } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'

const schedules = () => [{ account: 'acme', uid: 'live', name: 'home' }]
const optionsOfRuns = () => ['schedules/acme/running.jwe']

const remove = (folder: 'baselines' | 'schedules', bucket: MemoryBucket, mayContinue = () => true) =>
  removeStrayObjects(folder, { storage: bucket.storage, schedules, optionsOfRuns, mayContinue, now: () => NOON })

function aBucket() {
  const bucket = new MemoryBucket()
  const keys = ['baselines/acme/live/scr_1', 'baselines/acme/dead/scr_1', 'baselines/other/live/scr_1', 'baselines/acme/fresh/scr_1']
  for (const key of keys) bucket.objects.set(key, '').has(key) && bucket.modified.set(key, at(-3_601))
  bucket.modified.set('baselines/acme/fresh/scr_1', at(-3_599))
  return bucket
}

t.test('pictures without a schedule are removed after an hour', async (t) => {
  const bucket = aBucket()
  t.equal(await remove('baselines', bucket), 2)
  t.strictSame(bucket.keys(), ['baselines/acme/fresh/scr_1', 'baselines/acme/live/scr_1'])
})

t.test('more pictures than one list contains are removed', async (t) => {
  const bucket = aBucket()
  for (let n = 0; n < 2_500; n++) bucket.objects.set(`baselines/gone/u${n}/scr_1`, '')
  await remove('baselines', bucket)
  t.equal(bucket.keys().length, 2)
})

t.test('nothing is removed once this operator does not lead', async (t) => {
  const bucket = aBucket()
  t.equal(await remove('baselines', bucket, () => false), 0)
  t.equal(bucket.keys().length, 4)
})

t.test('options without a schedule are removed after an hour, unless a run needs them', async (t) => {
  const bucket = new MemoryBucket()
  for (const key of ['acme/home', 'acme/dead', 'other/home', 'acme/running', 'acme/fresh']) bucket.objects.set(`schedules/${key}.jwe`, '')
  bucket.modified.set('schedules/acme/fresh.jwe', at(-3_599))
  t.equal(await remove('schedules', bucket), 2)
  t.strictSame(bucket.keys(), ['schedules/acme/fresh.jwe', 'schedules/acme/home.jwe', 'schedules/acme/running.jwe'])
})
