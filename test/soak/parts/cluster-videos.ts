import { setTimeout as pause } from 'node:timers/promises'
import { DEFAULT_VIDEO_POOL } from '../../../crds/src/identifiers/names.ts'
import { median } from '../../bench/report/statistics.ts'
import { undoing } from '../../bench/report/undo.ts'
import { releaseNamespace } from '../../cluster/host/state.ts'
import { kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { capture, type RecordBody } from '../../support/cluster/api-client.ts'
import { finishedVideo, launchPlayer, play, startVideo } from '../../support/cluster/videos.ts'
import { eventually } from '../../support/eventually.ts'
import { findContainerProcess } from '../../support/processes/node-processes.ts'
import { atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { openCluster, QUADRANTS } from '../stage/cluster-objects.ts'
import { type CleanupStack, newCleanupStack } from '../stage/ends.ts'

// Videos on the running cluster: ten queued videos beside screenshots, and a video of two minutes whose runner and leader are lost.

const SCREENSHOTS = 20
const VIDEOS = 10
const MAX_RATIO = 1.5
/** Waits below this differ by chance. */
const LEAST_WAIT_MILLISECONDS = 20
const LONG = { format: 'mp4', video_duration: 120, video_fps: 30, viewport_width: 1280, viewport_height: 720 }
const LONG_MILLISECONDS = 1_800_000
const small = { viewport_width: 64, viewport_height: 64 }

export const clusterVideos: Part = {
  name: 'cluster-videos',
  shows: 'screenshots do not wait for queued videos, and a long video survives the loss of its runner and of the leader',
  run: async (context) => {
    const cleanupStack = newCleanupStack()
    return undoing(cleanupStack.endAll, () => run(cleanupStack, context))
  },
}

/** Milliseconds that a screenshot was queued. */
const waitOf = ({ created_at, started_at }: RecordBody): number => Date.parse(String(started_at)) - Date.parse(String(created_at))

async function waits(): Promise<number[]> {
  const found: number[] = []
  for (let n = 0; n < SCREENSHOTS; n++) found.push(waitOf(await capture(QUADRANTS, small)))
  return found
}

async function run(cleanupStack: CleanupStack, { progress }: PartContext): Promise<PartResult> {
  const { pools, shots } = await openCluster(cleanupStack)
  const alone = median(await waits())
  const videos: string[] = []
  for (let n = 0; n < VIDEOS; n++) videos.push(await startVideo(QUADRANTS, { ...small, format: 'mp4', video_duration: 60 }))
  await eventually('videos are queued', async () => ((await pools.get(DEFAULT_VIDEO_POOL)).status?.queued ?? 0) > 0)
  const beside = median(await waits())
  const queued = (await pools.get(DEFAULT_VIDEO_POOL)).status?.queued ?? 0
  progress(`screenshots waited ${alone} ms alone, and ${beside} ms beside videos, of which ${queued} were still queued`)
  const ends = await Promise.all(videos.map((id) => finishedVideo(id, { milliseconds: LONG_MILLISECONDS })))

  const id = await startVideo(QUADRANTS, LONG)
  const objectOf = () => shots.get(id.replace('_', '-'))
  const podOf = async () => (await objectOf()).status?.runner?.pod
  const first = await eventually('the long video is recorded', podOf, LONG_MILLISECONDS)
  await pause(20_000)
  progress(`killing ${first}`)
  process.kill(await findContainerProcess(String(first), 'runner'), 'SIGKILL')
  await eventually(
    'the second attempt runs',
    async () => ((await objectOf()).status?.attempt ?? 0) > 1 && (await podOf()),
    LONG_MILLISECONDS,
  )
  await pause(20_000)
  progress('deleting both operators')
  const operators = ['-n', releaseNamespace, '-l', 'app.kubernetes.io/component=operator']
  await kubectl(['delete', 'pods', ...operators, '--grace-period=0', '--force', '--wait=false'])
  const long = await finishedVideo(id, { milliseconds: LONG_MILLISECONDS })
  const player = await launchPlayer()
  cleanupStack.teardown(() => player.close())
  const { ended, seconds } = long.download_url === null ? { ended: false, seconds: 0 } : await play(player, long.download_url)
  return {
    findings: [
      atMost('median wait of a screenshot beside queued videos', beside, Math.max(alone, LEAST_WAIT_MILLISECONDS) * MAX_RATIO, 'ms'),
      holds('videos were queued all the time', queued > 0, String(queued)),
      holds(
        'all queued videos completed',
        ends.every(({ status }) => status === 'completed'),
        ends.map(({ status }) => status).join(', '),
      ),
      holds('the long video completed', long.status === 'completed', JSON.stringify(long.error ?? long.status)),
      holds('in the second attempt', long.attempts === 2, String(long.attempts)),
      holds('it has all frames', long.frames === 3_600, String(long.frames)),
      holds('a browser plays it to its end', ended && Math.abs(seconds - 120) <= 0.1, `${seconds} s`),
    ],
  }
}
