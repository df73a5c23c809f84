import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import type { KubeHttp } from '../../../../../crds/client/kube-http.ts'
import { silentLog } from '../../../../../crds/client/log.ts'
import { derivedId } from '../../../../../crds/src/identifiers/ids.ts'
import { MAX_RECENT_RUNS } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import type { ScheduleContext } from '../../../../../operator/src/controllers/schedule/apply.ts'
import { observe } from '../../../../../operator/src/controllers/schedule/controller.ts'
import { createReflectors } from '../../../../../operator/src/kube/reflectors.ts'

const COUNT = 2_000
const PAGE = 500
const HOUR = 3_600_000
const NOW = Date.parse('2026-11-26T10:00:00Z')
/** With 10,000 schedules, 7 KiB each are 68 MiB. */
const MAX_BYTES = 7 * 1_024

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const timeOf = (hoursAgo: number): string => new Date(NOW - hoursAgo * HOUR).toISOString()

/** A schedule that has had its twenty runs, as the API server sends it. */
function aStoredSchedule(n: number): object {
  const uid = `a0000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  const ids = Array.from({ length: MAX_RECENT_RUNS }, (_, hours) => derivedId('scr', new Date(timeOf(hours)), `${n}/${hours}`))
  const [id = '', to = ''] = ids
  const time = timeOf(0)
  const condition = (type: string, reason: string, message: string) => ({
    ...{ type, status: 'True', reason, message, observedGeneration: 1 },
    lastTransitionTime: new Date(NOW - n).toISOString(),
  })
  return {
    metadata: {
      ...{ name: `schedule-${n}`, namespace: 'tintype', uid, resourceVersion: String(100_000 + n), generation: 1 },
      creationTimestamp: time,
      managedFields: [{ manager: 'kubectl', operation: 'Apply', time, fieldsV1: { 'f:spec': { 'f:schedule': {}, 'f:template': {} } } }],
    },
    spec: {
      accountName: 'acme',
      schedule: '0 * * * *',
      comparison: {},
      template: { url: 'https://example.com/', options: { fullPage: true } },
    },
    status: {
      url: 'https://example.com/',
      conditions: [
        condition('Ready', 'Scheduled', 'Runs are created when they are due.'),
        condition('Suspended', 'Active', 'spec.suspend is not true.'),
        condition('LastRunSucceeded', 'Completed', 'The last run completed.'),
        condition('Fit', 'ShowsThePage', 'The last completed run shows the page.'),
      ],
      ...{ nextScheduleTime: timeOf(-1), lastScheduleTime: time, lastRunTime: time, lastSuccessfulTime: time },
      timing: { schedule: '0 * * * *' },
      baseline: { id, time, key: `baselines/acme/${uid}/${id}.png`, etag: uid },
      lastComparison: { id, time, to, changed: false, changedRatio: 0 },
      recentRuns: ids.map((run, hours) => ({
        ...{ id: run, time: timeOf(hours), outcome: 'completed', changed: false, changedRatio: 0 },
        completionTime: new Date(NOW - hours * HOUR + n).toISOString(),
      })),
    },
  }
}

/** An API server that lists these schedules, and whose watch is silent. */
const http = {
  namespace: 'tintype',
  async request({ query }: { query: { continue?: string } }) {
    const from = Number(query.continue ?? 0)
    const isLast = from + PAGE >= COUNT
    const items = Array.from({ length: PAGE }, (_, n) => aStoredSchedule(from + n))
    return JSON.parse(
      JSON.stringify({ metadata: { resourceVersion: '900000', ...(isLast ? {} : { continue: String(from + PAGE) }) }, items }),
    )
  },
  stream: ({ signal }: { signal: AbortSignal }) => once(signal, 'abort').then(() => Promise.reject(signal.reason)),
} as unknown as KubeHttp

t.test('a schedule with twenty runs takes the operator less than 7 KiB, also after it was reconciled', async (t) => {
  const measure = async () => {
    await sleep(1)
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const reflectors = createReflectors(http, { log: silentLog, metrics: {} })
  const { schedules, screenshots } = reflectors
  screenshots.lister.addIndex('schedule', ({ spec }) => spec.scheduleRef?.uid)
  const none = { get: () => undefined, find: async () => undefined, readText: async () => undefined, exists: async () => false }
  const reconcile = (key: string) =>
    observe(key, {
      config: { namespace: 'tintype' },
      reflectors: { ...reflectors, accounts: { lister: none }, usages: { lister: none } },
      clients: { screenshots: none },
      ...{ storage: none, report: () => undefined, wasDeleted: () => false },
      now: () => new Date(NOW),
    } as unknown as ScheduleContext)
  const before = await measure()
  schedules.start()
  await schedules.whenSynced()
  for (const key of schedules.lister.keys()) await reconcile(key)
  const used = (await measure()) - before
  t.equal(schedules.lister.size, COUNT)
  t.ok(used / COUNT < MAX_BYTES, `${Math.round(used / COUNT)} bytes each`)
  await schedules.stop()
})
