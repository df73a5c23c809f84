import t from 'tap'
import { absolute } from '../support/cluster/api-client.ts'
import { kubectl } from '../support/cluster/environment.ts'
import { poolOf } from '../support/cluster/pools.ts'
import { finishedVideo, launchPlayer, play, startVideo } from '../support/cluster/videos.ts'
import { decode, isNear } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'

// Videos in a cluster: from POST /videos, through the pool of the chart that records them, to a browser that plays the file.

const RED: [number, number, number] = [204, 51, 51]
const url = page('/solid?color=cc3333')
const size = { viewport_width: 320, viewport_height: 240 }

const player = await launchPlayer()
t.teardown(() => player.close())

t.test('a browser plays a recorded webm to its end, with the recorded length, size and page', { timeout: 240_000 }, async (t) => {
  const record = await finishedVideo(await startVideo(url, { ...size, format: 'webm', video_duration: 2, video_poster: true }))
  t.match(
    record,
    { status: 'completed', format: 'webm', width: 320, height: 240, duration_ms: 2000, fps: 30, frames: 60 },
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
