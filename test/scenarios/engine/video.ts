import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { openStudio } from '../../integration/capture-runner/stage/studio.ts'
import { serve } from '../../support/servers/serve.ts'
import { createProcessorClock } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { median } from '../harness/statistics.ts'
import { tableOf } from '../harness/table.ts'
import { browserStage } from './stage/engine.ts'

// Time and processor time of videos of a page with text, an animation and a canvas, by one runner with real browsers.

const SECONDS = 5
const FPS = 30
/** Seconds that an mp4 of 1280 × 720 may take on two quiet processors. */
const BAR_SECONDS = 9
const SMALL = { viewportWidth: 1280, viewportHeight: 720 } as const
const LARGE = { viewportWidth: 1920, viewportHeight: 1080 } as const
const KINDS: readonly { name: string; options: CaptureOptions }[] = [
  { name: 'mp4, 1280 × 720', options: { ...SMALL, format: 'mp4' } },
  { name: 'webm, 1280 × 720', options: { ...SMALL, format: 'webm' } },
  { name: 'gif, 1280 × 720', options: { ...SMALL, format: 'gif' } },
  { name: 'mp4, 1920 × 1080', options: { ...LARGE, format: 'mp4' } },
]

const TEXT = 'The harbor opens at six. Boats that come in before the tide turns pay half of the fee. '.repeat(300)
const PAGE = `<!doctype html><style>
  body { margin: 0; font: 18px/1.5 serif; columns: 3 } canvas { position: fixed; right: 0; bottom: 0 }
  i { position: fixed; left: 0; top: 40%; width: 200px; height: 200px; background: linear-gradient(red, blue); animation: move 4s linear infinite alternate }
  @keyframes move { to { transform: translateX(900px) rotate(360deg) } }
</style><p>${TEXT}</p><i></i><canvas width=600 height=400></canvas><script>
  const context = document.querySelector('canvas').getContext('2d')
  const draw = (now) => {
    context.fillStyle = 'hsl(' + now / 20 % 360 + ' 80% 50%)'
    context.fillRect(now % 600, now / 3 % 400, 60, 60)
    requestAnimationFrame(draw)
  }
  draw(0)
</script>`

/** Records each kind of video in each round, after one that is not measured. */
export const video = scenario({
  name: 'video',
  shows: `videos of ${SECONDS} seconds in each format`,
  stage: browserStage,
  options: { rounds: 5 },
  run: async ({ ends, settings: { rounds }, ...report }) => {
    const url = await serve(ends, (_, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE))
    const studio = await openStudio({ video: true, maxCaptures: Number.POSITIVE_INFINITY })
    ends.teardown(studio.close)
    const clock = createProcessorClock()
    const samples = KINDS.map(({ name, options }) => ({ name, options, wall: [] as number[], processor: [] as number[], bytes: 0 }))
    await studio.shoot(`${url}/`, { ...SMALL, format: 'mp4', videoDuration: 1 })
    for (let round = 0; round < rounds; round++) {
      for (const sample of samples) {
        const [started, used] = [performance.now(), clock([process.pid])]
        const recorded = await studio.shoot(`${url}/`, { ...sample.options, videoDuration: SECONDS, videoFps: FPS })
        sample.wall.push(performance.now() - started)
        sample.processor.push((clock([process.pid]) - used) * 1_000)
        sample.bytes = recorded.video?.bytes ?? 0
      }
      report.progress(`video: round ${round + 1} of ${rounds}`)
    }
    const seconds = (milliseconds: number): string => (milliseconds / 1_000).toFixed(1)
    const target = `target for mp4, 1280 × 720: ${BAR_SECONDS} s`
    report.table(
      tableOf(`Videos of ${SECONDS} s at ${FPS} frames per second, exact (medians of the rounds; ${target})`, samples, {
        video: ({ name }) => name,
        seconds: ({ wall }) => seconds(median(wall)),
        'by round': ({ wall }) => wall.map(seconds).join(' '),
        'ms per frame': ({ wall }) => median(wall) / (SECONDS * FPS),
        'processor ms per frame': ({ processor }) => median(processor) / (SECONDS * FPS),
        'size (KiB)': ({ bytes }) => bytes / 1_024,
      }),
    )
  },
})
