import t from 'tap'
import { STEPS } from '../../../../../capture-runner/src/capture/run.ts'
import { buildPlan, formatOf } from '../../../../../capture-runner/src/plan/plan.ts'
import type { CaptureOptions } from '../../../../../crds/src/options/catalog.ts'

const plan = (options: CaptureOptions) => buildPlan('https://a.example/', options)

t.test('buildPlan has a video with the defaults of its options', async (t) => {
  const built = plan({ format: 'mp4' })
  t.strictSame(built.video, {
    format: 'mp4',
    fps: 30,
    frames: 150,
    quality: 70,
    timing: 'exact',
    source: { width: 1920, height: 1080 },
    size: { width: 1920, height: 1080 },
    poster: false,
  })
  t.equal(formatOf(built), 'mp4')
  t.equal(built.context.frameControl, 'video')
})

t.test('buildPlan has no video for a screenshot', async (t) => {
  const built = plan({ format: 'webp' })
  t.equal(built.video, undefined)
  t.equal(formatOf(built), 'webp')
  t.notOk('frameControl' in built.context)
})

t.test('buildPlan computes the size of the file', async (t) => {
  const sizeOf = (options: CaptureOptions) => Object.values(plan({ format: 'mp4', ...options }).video?.size ?? {})
  t.strictSame(sizeOf({ viewportWidth: 333, viewportHeight: 201 }), [334, 202], 'a movie has even sides')
  t.strictSame(sizeOf({ viewportWidth: 333, viewportHeight: 201, format: 'gif' }), [333, 201])
  t.strictSame(sizeOf({ videoWidth: 640 }), [640, 360])
  t.strictSame(sizeOf({ viewportWidth: 800, viewportHeight: 600, deviceScaleFactor: 2 }), [1600, 1200])
  t.strictSame(sizeOf({ viewportWidth: 3000, viewportHeight: 100, videoWidth: 64 }), [64, 2])
})

t.test('buildPlan has the times of a scroll', async (t) => {
  t.equal(plan({ format: 'webm' }).video?.scroll, undefined)
  const scroll: CaptureOptions = { format: 'webm', videoScenario: 'scroll' }
  t.strictSame(plan(scroll).video?.scroll, { pause: 500, scroll: 4_000, back: false, easing: 'ease_in_out' })
  t.match(plan({ ...scroll, videoScrollBack: true, videoScrollEasing: 'linear' }).video?.scroll, { scroll: 2_000, easing: 'linear' })
})

t.test('buildPlan lowers the frames of a gif that players would show slowly', async (t) => {
  const built = plan({ format: 'gif', videoFps: 60, videoDuration: 2 })
  t.match(built.video, { fps: 50, frames: 100 })
  t.match(built.warnings, [/^video_fps is 50/])
  t.strictSame(plan({ format: 'mp4', videoFps: 60 }).warnings, [])
})

t.test('a video records instead of taking a screenshot, and waits for no stable page', async (t) => {
  const stepsOf = (options: CaptureOptions) => STEPS.filter(({ isWanted }) => isWanted?.(plan(options)) ?? true).map(({ name }) => name)
  const [still, moving] = [stepsOf({}), stepsOf({ format: 'mp4' })]
  t.strictSame(
    still.filter((name) => !moving.includes(name)),
    ['stability', 'stillPage', 'screenshot'],
  )
  t.strictSame(
    moving.filter((name) => !still.includes(name)),
    ['muteMedia', 'record'],
  )
  t.notOk(stepsOf({ format: 'mp4', videoTiming: 'real' }).includes('muteMedia'), 'a page in real time may play its sound')
})
