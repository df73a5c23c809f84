import t from 'tap'
import { STEPS } from '../../../../capture-runner/src/capture/run.ts'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'

// Effects of the options for preparing, blocking, waiting and failing.

const plan = (options?: CaptureOptions) => buildPlan('https://a.example/', options)
/** Names of the steps that an option adds. */
const added = (options: CaptureOptions): string[] => {
  const usual = new Set(stepsOf({}))
  return stepsOf(options).filter((name) => !usual.has(name))
}
const stepsOf = (options: CaptureOptions): string[] =>
  STEPS.filter(({ isWanted }) => isWanted?.(plan(options)) ?? true).map(({ name }) => name)

const cases: [options: CaptureOptions, steps: string[]][] = [
  [{ initScript: 'x' }, ['checkSyntax', 'initScript']],
  [{ hideSelectors: ['p'] }, ['checkSyntax', 'styles']],
  [{ styleUrls: ['https://b.example/a.css'] }, ['loadFiles', 'styles']],
  [{ scriptUrls: ['https://b.example/a.js'] }, ['loadFiles', 'scripts']],
  [{ maskSelectors: ['p'] }, ['checkSyntax', 'mask', 'redact']],
  [{ compareIgnore: [{ selector: 'p' }] }, ['checkSyntax', 'ignoredElements']],
  [{ compareIgnore: [{ x: 0, y: 0, width: 1, height: 1 }] }, []],
  [{ pageZoom: 2 }, []],
  [{ clickAll: 'p' }, ['checkSyntax', 'clickAll']],
  [{ hover: 'p' }, ['checkSyntax', 'hover']],
  [{ pressKey: 'Escape' }, ['pressKey']],
  [{ scrollIntoView: 'p' }, ['checkSyntax', 'placeWindow']],
  [{ scrollY: 1 }, ['placeWindow']],
  [{ blockAds: true }, ['holdRequests', 'hideUnwanted', 'hideLatecomers']],
  [{ blockCookieBanners: true }, ['consent', 'hideUnwanted', 'hideLatecomers']],
  [{ blockCookieBanners: true, cookieBannerAction: 'hide' }, ['holdRequests', 'hideUnwanted', 'hideLatecomers']],
  [{ blockBannersByHeuristics: true }, ['hideUnwanted', 'hideLatecomers']],
  [{ blockServiceWorkers: true }, ['holdRequests']],
  [{ allowRequests: ['*'] }, []],
  [{ waitForSelectorGone: 'p' }, ['checkSyntax', 'waitForSelector']],
  [{ waitForFunction: 'true' }, ['checkSyntax', 'waitForFunction']],
  [{ domIdleTime: 100 }, ['domIdle']],
  [{ failOnStatus: ['404'] }, ['checkResponse']],
  [{ failOnRedirect: 'always' }, ['checkResponse']],
  [{ failIfContentContains: ['x'] }, ['checkContent']],
  [{ failIfRequestFailed: ['*'] }, ['watchPage', 'checkContent']],
  [{ failOnBotChallenge: true }, ['watchPage', 'checkContent']],
]
for (const [options, steps] of cases) {
  t.test(`${JSON.stringify(options)} adds ${steps.length === 0 ? 'no step' : steps.join(', ')}`, async (t) => {
    t.strictSame(added(options), steps)
  })
}

t.test('stillPage stops endless animations, but not in a video or without the wait for stability', async (t) => {
  const isStopped = (options: CaptureOptions) => stepsOf(options).includes('stillPage')
  for (const how of [{}, { disableAnimations: true, stabilityTimeout: 0 }, { pauseVideos: true, format: 'mp4' } as const])
    t.ok(isStopped(how))
  for (const how of [{ stabilityTimeout: 0 }, { format: 'mp4' } as const]) t.notOk(isStopped(how))
})

t.test('buildPlan reads statuses and their ranges', async (t) => {
  t.strictSame(plan({ failOnStatus: ['404', '500-511'] }).refusedStatuses, [
    { from: 404, to: 404 },
    { from: 500, to: 511 },
  ])
})

t.test('buildPlan waits for elements as long as for the page by default', async (t) => {
  t.equal(plan({ timeout: 5000 }).elementMilliseconds, 5000)
  t.equal(plan({ timeout: 5000, waitForSelectorTimeout: 100 }).elementMilliseconds, 100)
  t.equal(plan({ timeout: 5000 }).quiet.timeoutMilliseconds, 5000)
})

t.test('buildPlan does not block the banner’s script if the banner must be accepted or rejected', async (t) => {
  t.equal(plan({ blockCookieBanners: true }).requestRules, undefined)
  t.strictSame(plan({ blockCookieBanners: true, blockAds: true }).requestRules?.engines, ['ads'])
  t.strictSame(plan({ blockCookieBanners: true, cookieBannerAction: 'hide' }).requestRules?.engines, ['banners'])
})
