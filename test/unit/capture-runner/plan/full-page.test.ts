import t from 'tap'
import { buildFullPage } from '../../../../capture-runner/src/plan/full-page.ts'
import { type CaptureOptions, withDefaults } from '../../../../crds/src/options/catalog.ts'

const plan = (options: CaptureOptions) => buildFullPage(withDefaults(options), withDefaults(options).viewportHeight)

t.test('buildFullPage prepares nothing for a screenshot of the window', async (t) => {
  t.match(plan({ fullPageScroll: true, fullPageScrollContainer: 'auto' }), { sweep: false, eagerImages: false, reach: 1_080 })
  t.notOk('scroll' in plan({ fullPageScroll: true }) || 'scrollContainer' in plan({ fullPageScrollContainer: 'auto' }))
})

t.test('buildFullPage unfolds what scrolls where the whole page is wanted', async (t) => {
  t.strictSame(plan({ fullPage: true, fullPageScrollContainer: 'main' }).scrollContainer, { selector: 'main' })
  t.equal(plan({ fullPage: true, fullPageScrollContainer: 'auto' }).scrollContainer, 'largest')
  t.equal(plan({ format: 'pdf' }).scrollContainer, 'filling')
  t.notOk('scrollContainer' in plan({ fullPage: true, fullPageScrollContainer: 'none' }))
})

t.test('buildFullPage undoes a lock where the screenshot may reach beyond the window, unless the page stays as it is', async (t) => {
  t.strictSame(
    [{ fullPage: true }, { selector: 'p' }, { clipX: 0, clipY: 3_000, clipWidth: 10, clipHeight: 500 }].map(
      (options) => plan(options).unlocks,
    ),
    [true, true, true],
  )
  t.strictSame(
    [{}, { fullPage: true, fullPageScrollContainer: 'none' }].map((options) => plan(options).unlocks),
    [false, false],
  )
})

t.test('buildFullPage sweeps a page as far as the screenshot may reach', async (t) => {
  t.match(plan({ fullPage: true }), { sweep: true, eagerImages: true, reach: 25_000 })
  t.match(plan({ format: 'pdf' }), { sweep: true, reach: 25_000 })
  t.match(plan({ clipX: 0, clipY: 3_000, clipWidth: 10, clipHeight: 500 }), { sweep: true, reach: 3_500 })
  t.match(plan({ clipX: 0, clipY: 0, clipWidth: 10, clipHeight: 500 }), { sweep: false, eagerImages: false })
  t.match(plan({ selector: 'p' }), { sweep: false, eagerImages: true, reach: 50_000 })
})

t.test('buildFullPage scrolls instead of sweeping, one window at a time, as often as the page may need', async (t) => {
  const { sweep, scroll } = plan({ fullPage: true, fullPageScroll: true, viewportHeight: 1_000, fullPageScrollDelay: 7 })
  t.strictSame([sweep, scroll], [false, { stepPixels: 1_000, maxScrolls: 25, delayMilliseconds: 7 }])
  t.match(plan({ fullPage: true, fullPageScroll: true, fullPageScrollBy: 200, fullPageMaxScrolls: 3 }).scroll, {
    stepPixels: 200,
    maxScrolls: 3,
  })
})
