import { type CaptureOptions, withDefaults } from '@tintype/crds/options/catalog'
import t from 'tap'
import { buildRegion } from '../../../../capture-runner/src/plan/region.ts'

const plan = (options: CaptureOptions) => buildRegion(withDefaults(options))
const clip = { clipX: 1, clipY: 2, clipWidth: 3, clipHeight: 4 }

t.test('buildRegion plans the window or the full page when no part of it is wanted', async (t) => {
  t.strictSame(plan({}), { beyondWindow: true })
  t.strictSame(plan({ captureBeyondViewport: false }), { beyondWindow: false })
})

t.test('buildRegion plans a rectangle when all four of its values are given', async (t) => {
  t.strictSame(plan(clip), { clip: { x: 1, y: 2, width: 3, height: 4 }, beyondWindow: true })
  const incomplete = Object.keys(clip).map((name) => plan({ ...clip, [name]: undefined }))
  t.strictSame(incomplete, Array(4).fill({ beyondWindow: true }))
})

t.test('buildRegion plans an element, and scrolls to it only where the browser takes its picture', async (t) => {
  t.strictSame(plan({ selector: 'p', selectorPadding: 5, errorOnSelectorNotFound: true }).element, {
    selector: 'p',
    all: false,
    padding: 5,
    isolate: false,
    scrollIntoView: true,
    required: true,
  })
  t.match(plan({ selector: 'p', selectorAlgorithm: 'clip' }).element, { scrollIntoView: false })
})
