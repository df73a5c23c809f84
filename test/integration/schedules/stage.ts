// Schedules whose runs are captured: an operator's schedule controller with a clock that tests advance, and a browser that captures each run
// with the order that the operator would send.

import type { RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { capture } from '../../../capture-runner/src/capture/capture.ts'
import { accounts, screenshotSchedules, screenshots } from '../../../crds/client/kinds.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import { isFinished, type Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotScheduleSpec } from '../../../crds/src/kinds/screenshot-schedule.ts'
import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import { ConditionType, findCondition } from '../../../crds/src/schema/conditions.ts'
import { openStorage as openObjectStorage } from '../../../crds/storage/s3/open-storage.ts'
import { systemClock } from '../../../operator/src/controller-runtime/clock.ts'
import { createScheduleController } from '../../../operator/src/controllers/schedule/controller.ts'
import { OptionsError } from '../../../operator/src/controllers/screenshot/decide.ts'
import { buildOrder, findBaseline } from '../../../operator/src/controllers/screenshot/dispatch.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { eventually } from '../../support/eventually.ts'
import type { Ends } from '../../support/processes/own-plane.ts'
import { openTestStore } from '../../support/servers/test-store.ts'
import { partsOf } from '../capture-runner/stage/orders.ts'
import { servePages } from '../capture-runner/stage/page-server.ts'
import { openStudio } from '../capture-runner/stage/studio.ts'
import { startPlane } from '../client/plane.ts'
import { leadWith } from '../operator/lead.ts'
import { makeIdentities } from '../store-identities.ts'

const MINUTE_MILLISECONDS = 60_000
export const ACCOUNT = 'acme'
const MAX_BYTES = 100_000_000
const CAPTURE_MILLISECONDS = 60_000
/** As the operator: another attempt follows if the browser or the store failed. */
const ATTEMPTS = 3
/** Captures at the same time. */
const CAPTURES = 2
const SMALL = { viewportWidth: 600, viewportHeight: 400 }

/** An Event that the controller recorded. */
interface RecordedEvent {
  type: 'Warning' | 'Normal'
  schedule: string
  reason: string
  message: string
}

/** A page of the site, or what it responds instead. */
export type Page = string | RequestListener

/** Starts everything, until `t` ends. Tests may change `pages`, by path. */
export async function startScheduleStage(t: Ends, pages: Record<string, Page>) {
  const store = await openTestStore(t)
  const [studio, site, plane] = await Promise.all([openStudio(), servePages(pages), startPlane(t)])
  t.teardown(() => Promise.all([studio.close(), site.close()]))
  const root = store.access()
  const objects = openObjectStorage({ access: root, toError: (what, cause) => new Error(what, { cause }) })
  await openStorage(root).ensureBucket()
  const identities = await makeIdentities(store)
  const access = { ...root, ...identities.operator }
  const storage = openStorage(access, { uploads: identities.uploads })
  const admin = plane.connect(t)
  const schedules = new Resource(admin, screenshotSchedules)
  const shots = new Resource(admin, screenshots)
  await new Resource(admin, accounts).create({ metadata: { name: ACCOUNT }, spec: { plan: 'free' } })

  // It stands still between runs. It is ahead of the API server's clock, by less than the hour that an id may be in the future.
  const time = { now: Math.ceil(Date.now() / MINUTE_MILLISECONDS) * MINUTE_MILLISECONDS + 2 * MINUTE_MILLISECONDS }
  const now = () => new Date(time.now)
  const recorded: RecordedEvent[] = []
  const record =
    (type: RecordedEvent['type']) =>
    ({ metadata }: { metadata: { name: string } }, reason: string, message: string) =>
      void recorded.push({ type, schedule: metadata.name, reason, message })
  const http = plane.connect(t)
  const { reflectors } = await leadWith(t, {
    ...{ http, storage, events: { warn: record('Warning'), normal: record('Normal') } },
    creates: [createScheduleController],
    caches: ['schedules', 'screenshots', 'accounts', 'usages'],
    deps: { clock: { ...systemClock, wall: () => now().getTime() } },
  })

  const parts = partsOf(studio)

  /** Captures a run as operator and runner do. */
  async function captureRun(shot: Screenshot): Promise<Screenshot> {
    const claim = { phase: 'Running' as const, attempt: 1, startTime: now().toISOString() }
    const claimed = await shots.patch(shot.metadata.name, mergePatch({ status: claim }), { subresource: 'status' })
    const started = { ...claimed, status: { ...claimed.status, startTime: new Date().toISOString() } }
    const context = { config: { namespace: http.namespace }, now, reflectors, storage, report: () => {} }
    const { compareTo } = started.spec.options ?? {}
    const baseline = compareTo === undefined ? Promise.resolve(undefined) : findBaseline(started, compareTo, context)
    const outcome = await baseline.then(
      async (found) => {
        const order = buildOrder(started, storage, {
          baseline: found,
          options: shot.spec.options,
          maxFileBytes: MAX_BYTES,
          now: new Date(),
        })
        for (let attempt = 1; ; attempt++) {
          const limit = AbortSignal.timeout(CAPTURE_MILLISECONDS)
          const { outcome, error } = await capture({ ...order, deadline: Date.now() + CAPTURE_MILLISECONDS }, parts, limit)
          if (!error?.retryable || attempt === ATTEMPTS) return outcome
        }
      },
      (error: unknown) => {
        if (!(error instanceof OptionsError)) throw error
        return { phase: 'Failed' as const, result: { error: { code: error.code, message: error.message } }, conditions: [] }
      },
    )
    const status = { ...outcome, completionTime: now().toISOString() }
    return shots.patch(shot.metadata.name, mergePatch({ status }), { subresource: 'status' })
  }

  /** Open runs of these schedules. */
  const openRuns = async (names: readonly string[]) =>
    (await shots.listAll()).filter((shot) => names.includes(shot.spec.scheduleRef?.name ?? '') && !isFinished(shot))

  return {
    schedules,
    /** Creates a schedule that is due every minute from now on. */
    async create(name: string, { url = site.url(`/${name}`), ...spec }: Partial<ScreenshotScheduleSpec> & { url?: string } = {}) {
      await schedules.create({
        metadata: { name },
        spec: {
          accountName: ACCOUNT,
          schedule: '* * * * *',
          suspend: true,
          ...spec,
          template: { ...spec.template, url, options: { ...SMALL, ...spec.template?.options } },
        },
      })
      await schedules.patch(name, mergePatch({ status: { lastScheduleTime: now().toISOString() } }), { subresource: 'status' })
      await schedules.patch(name, mergePatch({ spec: { suspend: false } }))
      // A change holds from the reconcile that sees it: one that came after the next minute would skip that minute's run.
      await eventually(`the operator has seen schedule ${name}`, async () => {
        const { metadata, status } = await schedules.get(name)
        return findCondition(status?.conditions, ConditionType.ready)?.observedGeneration === metadata.generation
      })
    },
    /** Lets a minute pass. Each schedule creates one run, which is captured and recorded. Returns the runs by the names of the schedules. */
    async runOnce(names: readonly string[]): Promise<Map<string, Screenshot>> {
      time.now += MINUTE_MILLISECONDS
      const open = await eventually('each schedule has an open run', async () => {
        const found = await openRuns(names)
        return found.length === names.length && found
      })
      const runs = new Map<string, Screenshot>()
      await mapConcurrently(open, CAPTURES, async (shot) => {
        const done = await captureRun(shot)
        runs.set(shot.spec.scheduleRef?.name ?? '', done)
      })
      await eventually('each run is recorded', async () => {
        const found = await schedules.listAll()
        return [...runs].every(([name, { metadata }]) =>
          found.some((one) => one.metadata.name === name && one.status?.recentRuns?.[0]?.id === screenshotIdOf(metadata)),
        )
      })
      return runs
    },
    /** The bytes of an object. */
    readObject: async (key: string) => buffer((await objects.open(key))!),
    statusOf: async (name: string) => (await schedules.get(name)).status ?? {},
    eventsOf: (name: string, reason: string) => recorded.filter((event) => event.schedule === name && event.reason === reason),
  }
}
