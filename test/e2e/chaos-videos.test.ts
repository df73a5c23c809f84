import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { call } from '../support/cluster/api-client.ts'
import { kubectl, kubectlJson } from '../support/cluster/environment.ts'
import { STORE } from '../support/cluster/tested-release.ts'
import { finishedVideo, launchPlayer, play, startVideo } from '../support/cluster/videos.ts'
import { eventually } from '../support/eventually.ts'
import { decode, isNear } from '../support/picture.ts'
import { findContainerProcess } from '../support/processes/node-processes.ts'
import { page } from '../support/servers/pages.ts'

// Kills each part of the system during a recording. The video must complete, once, and show its own page.

const player = await launchPlayer()
t.teardown(() => player.close())

const options = { viewport_width: 320, viewport_height: 240, format: 'mp4', video_duration: 4 }

/** Starts the recording of a page of one color, and waits until a runner records it. */
async function record(color: string): Promise<{ id: string; pod: string }> {
  const id = await startVideo(page(`/solid?color=${color}`), { ...options, delay: 3_000 })
  const { status } = await eventually(`${id} is recorded`, async () => {
    const shot = await kubectlJson<{ status?: { phase?: string; runner?: { pod: string } } }>(['get', 'screenshot', id.replace('_', '-')])
    return shot.status?.phase === 'Running' && shot
  })
  return { id, pod: status?.runner?.pod ?? '' }
}

/** Checks that a recording completes and that its video shows its page. */
async function endsWell(t: Test, id: string, color: string, attempts?: number): Promise<void> {
  const video = await finishedVideo(id, { milliseconds: 300_000 })
  const expected = { status: 'completed', frames: 120, duration_ms: 4_000, ...(attempts === undefined ? {} : { attempts }) }
  t.match(video, expected, JSON.stringify(video.error))
  const { ended, picture } = await play(player, video.download_url ?? '')
  t.ok(ended)
  const wanted = [0, 2, 4].map((place) => Number.parseInt(color.slice(place, place + 2), 16))
  t.ok(isNear((await decode(picture)).at(160, 120), wanted, 8))
}

t.test('a video survives a runner that is killed, with one more attempt', { timeout: 400_000 }, async (t) => {
  const { id, pod } = await record('336699')
  process.kill(await findContainerProcess(pod, 'runner'), 'SIGKILL')
  await endsWell(t, id, '336699', 2)
})

t.test('a video survives a runner pod that is deleted, without another attempt', { timeout: 400_000 }, async (t) => {
  const { id, pod } = await record('993366')
  await kubectl(['delete', 'pod', pod, '--wait=false'])
  await endsWell(t, id, '993366', 1)
})

t.test('a video survives the loss of the leader and of all gateways', { timeout: 400_000 }, async (t) => {
  const { id } = await record('669933')
  for (const component of ['operator', 'api-gateway'])
    await kubectl(['delete', 'pods', '-l', `app.kubernetes.io/component=${component}`, '--grace-period=0', '--force', '--wait=false'])
  await endsWell(t, id, '669933', 1)
})

t.test('a video survives a bucket that is unavailable for 20 s', { timeout: 400_000 }, async (t) => {
  const { id } = await record('cc9933')
  await kubectl(['scale', 'statefulset', STORE, '--replicas=0'])
  await pause(20_000)
  await kubectl(['scale', 'statefulset', STORE, '--replicas=1'])
  const isBack = async () => (await call<{ status: string }>('/api/v1/status').catch(() => undefined))?.body.status === 'operational'
  await eventually('the bucket is back', isBack, 120_000)
  await endsWell(t, id, 'cc9933')
})
