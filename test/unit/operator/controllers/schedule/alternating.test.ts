import t from 'tap'
import { findUnfit, type PageFacts } from '../../../../../capture-runner/src/comparison/find-unfit.ts'
import { derivedId } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { ScheduleComparison } from '../../../../../crds/src/kinds/schedule-comparison.ts'
import type { CaptureResult } from '../../../../../crds/src/kinds/screenshot.ts'
import type { StoredSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { waitingRunOf } from '../../../../../crds/src/records/approval.ts'
import { toRunSpec } from '../../../../../crds/src/records/run.ts'
import type { Whole } from '../../../../../crds/src/schema/custom-resource.ts'
import { eventsOfStatus } from '../../../../../crds/src/schema/event-types.ts'
import type { Decision } from '../../../../../operator/src/controllers/schedule/decide.ts'
import { toEnded } from '../../../../../operator/src/controllers/schedule/ended-run.ts'
import { findEvents } from '../../../../../operator/src/controllers/schedule/events.ts'
import { chooseBaseline, copyPicture, keepBaseline } from '../../../../../operator/src/controllers/schedule/keep-baseline.ts'
import { buildStatus } from '../../../../../operator/src/controllers/schedule/status.ts'
import { aScreenshot, completedStatus } from '../../../../support/fakes/builders.ts'

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
const storage = { copy: async () => 'copied' }
const SCHEDULED = {
  ready: { status: 'True', reason: 'Scheduled', message: 'Runs are created when they are due.' },
  timing: { schedule: '0 * * * *' },
} as const
const START = Date.parse('2026-06-01T00:00:00Z')

/** A schedule whose runs a test captures. */
class Simulation {
  readonly events: string[] = []
  readonly webhooks: string[] = []
  #schedule: Whole<StoredSchedule>
  #hour = 0

  constructor(comparison: ScheduleComparison) {
    this.#schedule = {
      metadata: { name: 'home', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: new Date(START).toISOString() },
      spec: { accountName: 'acme', schedule: '0 * * * *', template: { url: URL }, comparison },
      status: {},
    }
  }

  get baseline(): string | undefined {
    return this.#schedule.status?.baseline?.id
  }

  get waiting(): string | undefined {
    const { spec, status } = this.#schedule
    return waitingRunOf({ comparison: spec.comparison, status })
  }

  /** Captures the page, which has not changed. Returns the id of the run. */
  async run(facts: PageFacts, isApproved = false): Promise<string> {
    const time = new Date(START + ++this.#hour * 3_600_000)
    const spec = toRunSpec(this.#schedule, time)
    const expected = { url: spec.baseline?.finalUrl ?? URL, forms: spec.baseline?.forms }
    const unfit = findUnfit(facts, expected, [])
    const comparison = { changed: false, ...(unfit ? { skipped: unfit } : {}) }
    const result: CaptureResult = {
      format: 'png',
      etag: 'e',
      ...(facts.httpStatus === undefined ? {} : { httpStatus: facts.httpStatus }),
      ...(facts.finalUrl === undefined ? {} : { finalUrl: facts.finalUrl }),
      forms: [...(facts.forms ?? [])],
      ...(unfit ? { unfit } : {}),
      ...(spec.options?.compareTo ? { comparison } : {}),
    }
    const id = derivedId('scr', time, 'run')
    const metadata = { creationTimestamp: time.toISOString() }
    const shot = aScreenshot({ name: toObjectName(id), metadata, spec, status: completedStatus({ result }) })
    this.webhooks.push(
      ...eventsOfStatus('screenshot', shot.status, spec.scheduleRef?.wasFit).filter((type) => !/queued|started|completed/.test(type)),
    )
    const ended = [toEnded(shot)]
    const now = new Date(time.getTime() + 60_000)
    const decision: Decision = { ...SCHEDULED, baseline: chooseBaseline(this.#schedule, ended) }
    const baseline = isApproved ? await copyPicture(this.#schedule, shot, time.toISOString(), storage) : undefined
    const kept = baseline ?? (await keepBaseline(this.#schedule, decision.baseline, storage))
    const after = { ...this.#schedule, status: { ...this.#schedule.status, ...(kept ? { baseline: kept } : {}) } }
    const events = findEvents(this.#schedule, decision, ended, after).map(({ reason }) => reason)
    this.events.push(...events.filter((reason) => reason !== 'Scheduled' && reason !== 'WaitingForApproval'))
    const status = buildStatus(this.#schedule, decision, { open: [], ended, baseline: kept }, now)
    const written = Object.fromEntries(Object.entries({ ...this.#schedule.status, ...status }).filter(([, value]) => value !== null))
    this.#schedule = { ...this.#schedule, status: written }
    return id
  }
}

const TURNS = ['unfit', 'unfit', 'page', 'unfit', 'page', 'page'] as const
/** What is told in these turns. */
const EVENTS = ['Unfit', 'Fit', 'Unfit', 'Fit']
const WEBHOOKS = ['screenshot.unfit', 'screenshot.fit', 'screenshot.unfit', 'screenshot.fit']

for (const [what, facts] of Object.entries(UNFIT)) {
  t.test(`a page that alternates with ${what} lost its baseline, or was reported with each run`, async (t) => {
    for (const comparison of [{}, { baseline: 'Approved' }, { baseline: 'Approved', approveFirst: true }] as const) {
      const simulation = new Simulation(comparison)
      const mode = JSON.stringify(comparison)
      const isByHand = 'baseline' in comparison && !('approveFirst' in comparison)
      let shown = await simulation.run(PAGE, isByHand)
      t.equal(simulation.baseline, shown, `${mode}: the first run is the baseline`)
      for (const turn of TURNS) {
        const id = await simulation.run(turn === 'page' ? PAGE : facts)
        if (turn === 'page' && !('baseline' in comparison)) shown = id
        t.equal(simulation.baseline, shown, `${mode}: no baseline is lost`)
      }
      t.strictSame(simulation.events, EVENTS, mode)
      t.strictSame(simulation.webhooks, WEBHOOKS, mode)
    }
  })
}

t.test('a run that does not show the page never waits for approval', async (t) => {
  // Without an earlier picture, a form can belong to the page.
  const certain = Object.entries(UNFIT).filter(([what]) => what !== 'a login form' && what !== 'a captcha')
  for (const [what, facts] of certain) {
    const simulation = new Simulation({ baseline: 'Approved' })
    await simulation.run(facts)
    t.equal(simulation.waiting, undefined, what)
    t.equal(simulation.baseline, undefined)
    const shown = await simulation.run(PAGE)
    t.equal(simulation.waiting, shown, what)
    await simulation.run(facts)
    t.equal(simulation.waiting, shown, `${what}: later`)
    t.strictSame(simulation.events, ['Unfit', 'Fit', 'Unfit'], what)
  }
})
