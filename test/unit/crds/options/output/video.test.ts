import t from 'tap'
import { maxViewportPixels, windowPixels } from '../../../../../crds/src/options/contradictions.ts'
import { ImageFormat, isMoving, MovingFormat, StillFormat } from '../../../../../crds/src/options/output/image.ts'
import { framesOf, isScrollWithinVideo, scrollPlanOf } from '../../../../../crds/src/options/output/video.ts'
import { DEVICES } from '../../../../../crds/src/options/page/devices.ts'

t.test('isMoving is true for the formats of videos only', async (t) => {
  t.ok(MovingFormat.options.every(isMoving))
  t.notOk([...ImageFormat.options, ...StillFormat.options, undefined, 'toString'].some(isMoving))
})

t.test('framesOf applies the defaults, and is 0 for a screenshot', async (t) => {
  t.equal(framesOf({ format: 'mp4' }), 150)
  t.equal(framesOf({ format: 'gif', videoDuration: 3, videoFps: 10 }), 30)
  t.equal(framesOf({ format: 'png', videoDuration: 3 }), 0)
})

t.test('scrollPlanOf uses what the pauses leave of the video', async (t) => {
  t.strictSame(scrollPlanOf({}), { pause: 500, scroll: 4_000, back: false })
  t.strictSame(scrollPlanOf({ videoDuration: 10, videoScrollBack: true, videoScrollPause: 0 }), { pause: 0, scroll: 5_000, back: true })
  t.strictSame(scrollPlanOf({ videoScrollDuration: 1_000, videoScrollPause: undefined }), { pause: 500, scroll: 1_000, back: false })
})

t.test('isScrollWithinVideo is false if the pauses leave less than 100 ms for a scroll', async (t) => {
  t.ok(isScrollWithinVideo({ videoDuration: 1, videoScrollPause: 450 }))
  t.notOk(isScrollWithinVideo({ videoDuration: 1, videoScrollPause: 451 }))
})

t.test('a video can show every device', async (t) => {
  const tooLarge = DEVICES.filter(({ name }) => windowPixels({ device: name }) > maxViewportPixels('mp4'))
  t.strictSame(tooLarge, [])
})
