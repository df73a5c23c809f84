import sharp from 'sharp'
import t from 'tap'
import { createClusterAccount } from '../support/cluster/accounts.ts'
import { absolute, call } from '../support/cluster/api-client.ts'
import { kubectl, kubectlJson } from '../support/cluster/environment.ts'
import { poolOf, run } from '../support/cluster/pools.ts'
import { startClusterReceiver } from '../support/cluster/receiver.ts'
import { finishedVideo, launchPlayer, play, startVideo, type VideoBody } from '../support/cluster/videos.ts'
import { eventually } from '../support/eventually.ts'
import { decode, isNear } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'

// Videos in a cluster: from POST /videos, through the pool of the chart that records them, to a browser that plays the file.

const RED: [number, number, number] = [204, 51, 51]
const url = page('/solid?color=cc3333')
const size = { viewport_width: 320, viewport_height: 240 }

const player = await launchPlayer()
t.teardown(() => player.close())

for (const format of ['mp4', 'webm']) {
  t.test(`a browser plays a recorded ${format} to its end, with the recorded length, size and page`, { timeout: 240_000 }, async (t) => {
    const record = await finishedVideo(await startVideo(url, { ...size, format, video_duration: 2, video_poster: true }))
    t.match(
      record,
      { status: 'completed', format, width: 320, height: 240, duration_ms: 2000, fps: 30, frames: 60 },
      JSON.stringify(record.error),
    )
    const { picture, seconds, ...played } = await play(player, record.download_url ?? '')
    t.match(played, { ended: true, width: 320, height: 240 })
    t.ok(Math.abs(seconds - 2) <= 0.05, `${seconds} s`)
    t.ok(isNear((await decode(picture)).at(160, 120), RED, 8))
    const poster = record.artifacts.find(({ type }) => type === 'poster')
    const shown = await decode(Buffer.from(await (await fetch(absolute(poster?.download_url ?? ''))).arrayBuffer()))
    t.match(shown, { format: 'jpeg', width: 320, height: 240 })
    t.ok(isNear(shown.at(160, 120), RED, 8))
  })
}

t.test('a gif has each of its frames, and repeats', { timeout: 240_000 }, async (t) => {
  const record = await finishedVideo(await startVideo(url, { ...size, format: 'gif', video_duration: 1, video_fps: 10 }))
  t.match(record, { status: 'completed', format: 'gif', frames: 10 }, JSON.stringify(record.error))
  const file = Buffer.from(await (await fetch(absolute(record.download_url ?? ''))).arrayBuffer())
  const { format, loop, delay = [], pageHeight = 240, width } = await sharp(file, { animated: true }).metadata()
  t.match({ format, loop, width, pageHeight }, { format: 'gif', loop: 0, width: 320, pageHeight: 240 })
  t.equal(
    delay.reduce((sum, milliseconds) => sum + milliseconds, 0),
    1_000,
  )
})

t.test('kubectl shows a video, its pool and the ability of its runners', { timeout: 240_000 }, async (t) => {
  const id = await startVideo(url, { ...size, format: 'mp4', video_duration: 1 })
  await finishedVideo(id)
  const { stdout } = await kubectl(['get', 'screenshot', id.replace('_', '-')])
  t.match(stdout, /Completed +.* mp4 +[\d.]+ KiB +\d/)
  const described = await kubectl(['describe', 'screenshot', id.replace('_', '-')])
  t.match(described.stdout, /Pod: +video-\d+/)
  const { conditions = [] } = (await poolOf('video')).status ?? {}
  for (const type of ['Ready', 'VideoReady']) t.equal(conditions.find((condition) => condition.type === type)?.status, 'True', type)
})

t.test('a webhook receives video.completed, and a deleted video has no record and no file', { timeout: 300_000 }, async (t) => {
  const receiver = await startClusterReceiver(t)
  const name = `videos-${run}`
  const spec = { url: `${receiver.url}/videos`, events: ['video.completed', 'screenshot.completed'] }
  const applied = await kubectl(
    ['apply', '-f', '-'],
    JSON.stringify({ apiVersion: 'tintype.dev/v1alpha1', kind: 'Webhook', metadata: { name }, spec }),
  )
  if (applied.code !== 0) throw new Error(applied.stderr)
  t.teardown(() => kubectl(['delete', 'webhook', name]))
  await kubectl(['wait', '--for=condition=Ready', `webhook/${name}`, '--timeout=120s'])
  const record = await finishedVideo(await startVideo(url, { ...size, format: 'mp4', video_duration: 1 }))
  const eventsOfVideo = async () => {
    const events = (await receiver.received()).map(({ body }) => JSON.parse(Buffer.from(body, 'base64').toString()))
    return events.filter(({ data }) => (data.video ?? data.screenshot)?.id === record.id)
  }
  const events = await eventually('the event arrived', async () => {
    const found = await eventsOfVideo()
    return found.length > 0 && found
  })
  t.match(events, [{ type: 'video.completed', data: { video: { id: record.id, status: 'completed', frames: 30 } } }])
  const link = absolute(record.download_url ?? '')
  t.equal((await fetch(link, { headers: { range: 'bytes=0-99' } })).status, 206)
  t.equal((await call(`/api/v1/videos/${record.id}`, { method: 'DELETE' })).status, 204)
  t.equal((await call(`/api/v1/videos/${record.id}`)).status, 404)
  await eventually('the link is invalid', async () => (await fetch(link)).status === 404)
})

t.test('a video costs a unit of quota for each ten seconds, and a failed one nothing', { timeout: 300_000 }, async (t) => {
  const account = await createClusterAccount(t, 'videos', { plan: 'growth' })
  const { key } = account
  const used = async () => (await call<{ data: { count: number } }>('/api/v1/usage/current', { key })).body.data.count
  const record = await finishedVideo(await startVideo(url, { ...size, format: 'mp4', video_duration: 11, video_fps: 5 }, key), { key })
  t.match(record, { status: 'completed', frames: 55 }, JSON.stringify(record.error))
  await eventually('two units are charged', async () => (await used()) === 2)
  const failing = { ...size, format: 'mp4', video_duration: 30, video_fps: 5 }
  const failed = await finishedVideo(await startVideo('http://missing.sites.svc.cluster.local/', failing, key), { key })
  t.match(failed, { status: 'failed' })
  await eventually('three units are refunded', async () => (await used()) === 2)
})

t.test('a video in a pool that records none fails at once and says what to do', async (t) => {
  const name = `still-${run}`
  const shot = {
    apiVersion: 'tintype.dev/v1alpha1',
    kind: 'Screenshot',
    metadata: { name },
    spec: { url, poolName: 'default', options: { format: 'mp4' } },
  }
  t.equal((await kubectl(['create', '-f', '-'], JSON.stringify(shot))).code, 0)
  t.teardown(() => kubectl(['delete', 'screenshot', name, '--wait=false']))
  const { status } = await eventually('it fails', async () => {
    const current = await kubectlJson<{ status?: { phase?: string; result?: { error?: VideoBody['error'] } } }>(['get', 'screenshot', name])
    return current.status?.phase === 'Failed' && current
  })
  t.match(status?.result?.error, { code: 'VIDEO_UNAVAILABLE', message: /RunnerPool default does not record videos/ })
})
