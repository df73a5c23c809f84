import t from 'tap'
import { events } from '../../../crds/client/core-resources.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { eventually } from '../../support/eventually.ts'
import { startStage } from './stage.ts'

// Videos and the pool of the chart that records them, with fake captures.

const stage = await startStage(t)
const { node } = stage
let leader = await stage.lead()

const pool = () => stage.poolClient.get('video')
const conditionOf = async (type: string) => findCondition((await pool()).status?.conditions, type)
const podsOfPool = () => stage.podClient.listAll({ labelSelector: 'tintype.dev/pool=video' })
const createVideo = (options: object = {}) => stage.create({ options: { format: 'mp4', ...options } })
const recorded = async (reason: string) =>
  (await new Resource(stage.release.admin, events).listAll({ fieldSelector: 'involvedObject.name=video' })).some(
    (event) => event.reason === reason,
  )

t.test('the pool of videos starts its first pod for the first video, and none for screenshots', async (t) => {
  t.match((await stage.whenFinished(await stage.create())).status?.runner?.pod, /^default-/)
  t.strictSame(await podsOfPool(), [])
  t.match(await conditionOf('Ready'), { status: 'True', reason: 'ScaledToZero' })
  const done = await stage.whenFinished(await createVideo())
  t.match(done.status, { phase: 'Completed', runner: { pod: 'video-0' }, result: { format: 'mp4' } })
  t.match(done.status?.storagePath, /\.mp4$/)
  t.match(await stage.fileOf(done), / attempt 1 on video-0$/)
  t.match(await conditionOf('VideoReady'), { status: 'True', reason: 'VideoAvailable' })
  const [pod] = await podsOfPool()
  t.match(pod?.spec?.terminationGracePeriodSeconds, 600)
  t.match(pod?.spec?.containers[0]?.image, /\/capture-runner-video:/)
})

t.test('screenshots do not wait for videos, and videos start in the order of their creation', async (t) => {
  const gate = Promise.withResolvers<void>()
  node.capture = async ({ options }) => (options?.format === 'webm' ? gate.promise : undefined)
  await stage.poolClient.patch('video', mergePatch({ spec: { maxPods: 1 } }))
  const videos = []
  for (let n = 0; n < 10; n++) videos.push(await createVideo({ format: 'webm', videoDuration: 120 }))
  await eventually('nine wait', async () => (await pool()).status?.queued === 9)
  for (let n = 0; n < 3; n++) t.match((await stage.whenFinished(await stage.create())).status, { phase: 'Completed', attempt: 1 })
  t.equal((await pool()).status?.queued, 9)
  gate.resolve()
  for (const video of videos) t.match((await stage.whenFinished(video)).status, { phase: 'Completed', attempt: 1 })
  const names = videos.map(({ metadata }) => metadata.name)
  t.strictSame(
    node.orders.map(({ order }) => order.name).filter((name) => names.includes(name)),
    names,
  )
})

t.test('the order of a video has time for its frames, and an upload with its content type', async (t) => {
  node.capture = async () => {}
  const until = async (options: object) => {
    const { status, metadata } = await stage.whenFinished(await createVideo(options))
    const order = node.orders.findLast(({ order: { name } }) => name === metadata.name)?.order
    return { order, milliseconds: (order?.deadline ?? 0) - Date.parse(status?.startTime ?? '') }
  }
  const short = await until({ videoDuration: 1, videoPoster: true })
  const long = await until({ videoDuration: 120, format: 'webm' })
  t.ok(long.milliseconds - short.milliseconds > 119 * 30 * 100, `${long.milliseconds} and ${short.milliseconds} ms`)
  t.match(short.order?.upload.headers, { 'content-type': 'video/mp4' })
  t.match(short.order?.artifacts, [{ type: 'poster', upload: { headers: { 'content-type': 'image/jpeg' } } }])
  t.match(long.order?.upload.headers, { 'content-type': 'video/webm' })
})

t.test('a lost runner and a new leader neither lose a video nor store it twice', async (t) => {
  await stage.poolClient.patch('video', mergePatch({ spec: { maxPods: 2 } }))
  const stored = new Map<string, number>()
  const store = node.store
  node.store = async (order, text) => {
    stored.set(order.name, (stored.get(order.name) ?? 0) + 1)
    return store(order, text)
  }
  const gate = Promise.withResolvers<void>()
  node.capture = async (order, runner) => {
    if (order.attempt === 1) await node.crash(runner, 1)
    if (order.attempt === 1) await new Promise(() => {})
    await gate.promise
  }
  const lost = await createVideo()
  await eventually('the second attempt runs', async () =>
    node.orders.some(({ order }) => order.name === lost.metadata.name && order.attempt === 2),
  )
  await leader.stop()
  leader = await stage.lead()
  gate.resolve()
  const done = await stage.whenFinished(lost)
  t.match(done.status, { phase: 'Completed', attempt: 2, lostRunners: 1 })
  t.equal(stored.get(lost.metadata.name), 1)
  node.store = store
})

t.test('a deleted video leaves no file', async (t) => {
  node.capture = async () => {}
  const done = await stage.whenFinished(await createVideo())
  t.ok(await stage.fileOf(done))
  await stage.shots.delete(done.metadata.name)
  await eventually('its file was deleted', async () => (await stage.fileOf(done)) === undefined)
})

t.test('videos wait while the runners cannot record, and the pool and an Event report why', async (t) => {
  node.video = { available: false, detail: 'ffmpeg was not found' }
  await stage.poolClient.patch('video', mergePatch({ spec: { isolation: 'browser' } }))
  const video = await createVideo()
  await eventually('the pool reports it', async () => (await conditionOf('VideoReady'))?.reason === 'VideoUnavailable')
  t.match(await conditionOf('VideoReady'), { status: 'False', message: /ffmpeg was not found\. .*capture-runner-video/ })
  await eventually('it is not ready', async () => (await conditionOf('Ready'))?.reason === 'VideoUnavailable')
  await eventually('an Event reports it', async () => recorded('VideoUnavailable'))
  t.match((await stage.shots.get(video.metadata.name)).status?.phase, 'Pending')
  t.match((await stage.whenFinished(await stage.create())).status?.phase, 'Completed')
  node.video = { available: true, detail: '' }
  await stage.poolClient.patch('video', mergePatch({ spec: { isolation: 'context' } }))
  t.match((await stage.whenFinished(video)).status, { phase: 'Completed', attempt: 1 })
  await eventually('an Event reports its end', async () => recorded('VideoAvailable'))
})

t.test('queued videos fail when their pool no longer records', async (t) => {
  node.keepsUnready = true
  await stage.poolClient.patch('video', mergePatch({ spec: { isolation: 'browser' } }))
  const video = await createVideo()
  await stage.poolClient.patch('video', mergePatch({ spec: { video: null } }))
  t.match((await stage.whenFinished(video)).status?.result?.error, {
    code: 'VIDEO_UNAVAILABLE',
    message: /RunnerPool video does not record/,
  })
  await eventually('the pool no longer reports on videos', async () => (await conditionOf('VideoReady')) === undefined)
})
