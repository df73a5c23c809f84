import t, { type Test } from 'tap'
import { findUnfit, type PageFacts } from '../../../../../capture-runner/src/comparison/decide.ts'
import type { CaptureResult, ScreenshotSpec } from '../../../../../crds/src/kinds/screenshot.ts'
import type { ScheduleComparison } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { waitingRunOf } from '../../../../../crds/src/records/approval.ts'
import { eventsOfStatus } from '../../../../../crds/src/schema/event-types.ts'
import { startSchedule } from './stage.ts'

// A site that shows its page and something else in turns: what each run makes of it, from the decision of the runner to status, Events and webhooks.

const URL = 'https://shop.example/offer'
const PAGE: PageFacts = { httpStatus: 200, finalUrl: URL, forms: [], isBrokenOff: false }
const UNFIT: Readonly<Record<string, PageFacts>> = {
  '503': { ...PAGE, httpStatus: 503 },
  '429': { ...PAGE, httpStatus: 429 },
  'a login form': { ...PAGE, forms: ['password'] },
  'a login at another URL': { ...PAGE, finalUrl: 'https://shop.example/login?next=/offer', forms: ['password'] },
  'a document that broke off': { ...PAGE, isBrokenOff: true },
  'a captcha': { ...PAGE, forms: ['captcha'] },
  'a bot challenge': { ...PAGE, unfit: 'bot_challenge' },
  'an empty body': { ...PAGE, unfit: 'blank' },
}
const WHAT = Object.keys(UNFIT)
const nameOf = (what: string): string => what.toLowerCase().replaceAll(' ', '-')

/** The result of a capture of the page, which has not changed. */
function capture({ baseline, options }: ScreenshotSpec, facts: PageFacts): CaptureResult {
  const unfit = findUnfit(facts, { url: baseline?.finalUrl ?? URL, forms: baseline?.forms }, [])
  return {
    ...{ httpStatus: facts.httpStatus ?? 0, finalUrl: facts.finalUrl ?? URL, forms: [...(facts.forms ?? [])] },
    ...(unfit ? { unfit } : {}),
    ...(options?.compareTo ? { comparison: { changed: false, ...(unfit ? { skipped: unfit } : {}) } } : {}),
  }
}

/** Starts a schedule for each kind of unfit page. */
async function startSites(t: Test, comparison: ScheduleComparison) {
  const stage = await startSchedule(t, { comparison, template: { url: URL } }, WHAT.map(nameOf))
  const webhooks: Record<string, string[]> = {}
  const isNews = (event: string) => !/ (Scheduled|WaitingForApproval|Approved) /.test(event)
  return {
    ...stage,
    webhooks,
    /** Captures the next run of each schedule. Returns their ids by what is unfit. */
    async turn(isPage: boolean): Promise<Record<string, string>> {
      const { spec: last } = await stage.begin()
      const due = stage.runs().filter(({ spec }) => spec.scheduleRef?.time === last.scheduleRef?.time)
      const ids: Record<string, string> = {}
      for (const what of WHAT) {
        const run = due.find(({ spec }) => spec.scheduleRef?.name === nameOf(what))!
        ids[what] = await stage.end(run, capture(run.spec, isPage ? PAGE : UNFIT[what]!))
        const { status } = stage.runs().find(({ metadata }) => metadata.name === run.metadata.name)!
        const types = eventsOfStatus('screenshot', status, run.spec.scheduleRef?.wasFit)
        webhooks[what] = [...(webhooks[what] ?? []), ...types.filter((type) => !/queued|started|completed/.test(type))]
      }
      return ids
    },
    baselineOf: (what: string) => stage.get(nameOf(what)).status?.baseline?.id,
    waitingOf: (what: string) => waitingRunOf({ comparison, status: stage.get(nameOf(what)).status }),
    eventsOf: (what: string) =>
      stage.events.filter((event) => event.includes(` ${nameOf(what)}:`) && isNews(event)).map((event) => event.split(' ')[1]),
  }
}

const MODES: ScheduleComparison[] = [{}, { baseline: 'Approved' }, { baseline: 'Approved', approveFirst: true }]
for (const comparison of MODES) {
  t.test(
    `a page that alternates with another lost its baseline, or was reported with each run: ${JSON.stringify(comparison)}`,
    async (t) => {
      const { turn, ask, baselineOf, eventsOf, webhooks } = await startSites(t, comparison)
      let shown = await turn(true)
      if (comparison.baseline && !comparison.approveFirst) for (const what of WHAT) await ask(shown[what]!, undefined, nameOf(what))
      for (const what of WHAT) t.equal(baselineOf(what), shown[what], `${what}: the first run is the baseline`)
      for (const isPage of [false, false, true, false, true, true]) {
        const ids = await turn(isPage)
        if (isPage && !comparison.baseline) shown = ids
        for (const what of WHAT) t.equal(baselineOf(what), shown[what], `${what}: no baseline is lost`)
      }
      for (const what of WHAT) {
        t.strictSame(eventsOf(what), ['Unfit', 'Fit', 'Unfit', 'Fit'], what)
        t.strictSame(webhooks[what], ['screenshot.unfit', 'screenshot.fit', 'screenshot.unfit', 'screenshot.fit'], what)
      }
    },
  )
}

t.test('a run that does not show the page never waits for approval', async (t) => {
  const { turn, baselineOf, waitingOf, eventsOf } = await startSites(t, { baseline: 'Approved' })
  // Without an earlier picture, a form can belong to the page.
  const certain = WHAT.filter((what) => what !== 'a login form' && what !== 'a captcha')
  await turn(false)
  for (const what of certain) t.strictSame([waitingOf(what), baselineOf(what)], [undefined, undefined], what)
  const shown = await turn(true)
  for (const what of certain) t.equal(waitingOf(what), shown[what], what)
  await turn(false)
  for (const what of certain) {
    t.equal(waitingOf(what), shown[what], `${what}: later`)
    t.strictSame(eventsOf(what), ['Unfit', 'Fit', 'Unfit'], what)
  }
})
