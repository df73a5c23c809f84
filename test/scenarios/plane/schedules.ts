import { setTimeout as sleep } from 'node:timers/promises'
import { screenshotSchedules, screenshots } from '../../../crds/client/kinds.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { Resource } from '../../../crds/client/resource.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import { spreadOf } from '../../../operator/src/controllers/schedule/decide.ts'
import { eventually } from '../../support/eventually.ts'
import { readMemory, readProcessor } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { plane } from './stage/plane.ts'
import { profileFlags } from './stage/programs.ts'

const BAR_MEBIBYTES = 250
const BAR_SECONDS = 5
const PER_SECOND = 20
const AT_ONCE = 32
const RUNNERS = 5
const CAPTURE_MILLISECONDS = 100
const MINUTE_MILLISECONDS = 60_000
/** From the creation of the last schedule to the first due run. */
const LEAD_MILLISECONDS = 30_000
/** Schedules that are created in a second, at least, on a loaded machine. */
const CREATED_PER_SECOND = 25
const OUTAGE_MILLISECONDS = 30_000
/** The last runs, and those that were missed. */
const PATIENCE_MILLISECONDS = 600_000
const QUANTILE = 0.99

export const schedules = scenario({
  name: 'schedules',
  shows: '10,000 schedules: time from the due time of a run to its Screenshot, memory of the operator, and runs after a restart',
  stage: plane(),
  options: { live: 10_000, profile: undefined },
  run: async ({ stage, settings: { live: count, profile }, ...report }) => {
    const environment = { TINTYPE_RETENTION_MAX_LIVE: String(count * 2) }
    const first = await stage.startOperator({ environment, flags: profileFlags(profile) })
    await stage.createAccount('soak')
    await stage.fleet.ask({ captureMilliseconds: CAPTURE_MILLISECONDS })
    await stage.setPool({ minIdle: RUNNERS, maxPods: RUNNERS })
    await stage.whenIdle(RUNNERS)

    // All runs are due in one minute of the hour, and spread from then on.
    const creating = Date.now()
    const due = new Date(
      Math.ceil((creating + (count / CREATED_PER_SECOND) * 1_000 + LEAD_MILLISECONDS) / MINUTE_MILLISECONDS) * MINUTE_MILLISECONDS,
    )
    const spreadSeconds = Math.ceil(count / PER_SECOND)
    report.progress(`creating ${count} schedules, due at ${due.toISOString()} and in the ${spreadSeconds} s after it`)
    const store = new Resource(stage.admin, screenshotSchedules)
    const spec = {
      accountName: 'soak',
      schedule: `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`,
      spreadSeconds,
      template: { url: 'https://example.com/a/page', options: { fullPage: true, format: 'png' as const } },
      comparison: { threshold: 0.001 },
    }
    const spreads = new Map<string, number>()
    await mapConcurrently(Array.from({ length: count }).keys().toArray(), AT_ONCE, async (n) => {
      const schedule = await store.create({ metadata: { name: `schedule-${n}` }, spec })
      spreads.set(schedule.metadata.name, spreadOf(schedule))
    })
    if (Date.now() > due.getTime()) throw new Error('creating the schedules took too long; use an idle machine or --live')
    const idle = readMemory(first.pid)

    // A watch, because lists of so many objects would be a load of their own.
    const runs = new Reflector({ http: stage.admin, resource: screenshots })
    runs.start()
    report.ends.teardown(() => runs.stop())
    await runs.whenSynced()
    report.progress('waiting for the first half of the runs')
    const half = due.getTime() + (spreadSeconds * 1_000) / 2
    await sleep(due.getTime() - Date.now())
    const processorOf = (): number => readProcessor({ operator: [first.pid] }).operator
    const used = processorOf()
    await sleep(half - Date.now())
    const worked = readMemory(first.pid)
    const spent = processorOf() - used
    const before = runs.lister.list()
    await first.end('SIGKILL')
    report.progress(`${before.length} runs exist; no operator for ${OUTAGE_MILLISECONDS / 1_000} s`)
    await sleep(OUTAGE_MILLISECONDS)
    const started = Date.now()
    const second = await stage.startOperator({ environment })
    const isPast = (name: string): boolean => due.getTime() + (spreads.get(name) ?? 0) < started
    const wanted = [...spreads.keys()].filter(isPast).length
    await eventually('the missed runs exist', async () => runs.lister.size >= wanted, PATIENCE_MILLISECONDS)
    const caughtUp = (Date.now() - started) / 1_000
    report.progress('waiting for the second half of the runs')
    await sleep(Math.max(0, due.getTime() + spreadSeconds * 1_000 - Date.now()))
    await eventually('all runs exist', async () => runs.lister.size >= count, PATIENCE_MILLISECONDS)
    const last = readMemory(second.pid)

    const all = runs.lister.list()
    const lateOf = (shots: readonly Screenshot[]) =>
      shots
        .map(({ metadata, spec: { scheduleRef } }) => {
          const wantedAt = Date.parse(scheduleRef?.time ?? '') + (spreads.get(scheduleRef?.name ?? '') ?? 0)
          return Math.max(0, Date.parse(metadata.creationTimestamp) - wantedAt) / 1_000
        })
        .sort((one, other) => one - other)
    const late = lateOf(before)
    const afterRestart = lateOf(all.filter(({ spec: { scheduleRef } }) => !isPast(scheduleRef?.name ?? '')))
    const names = new Set(all.map(({ spec: { scheduleRef } }) => scheduleRef?.name))
    const what = `s from the due time to the Screenshot, p99 of ${late.length} runs at ${PER_SECOND} a second`
    report.atMost(what, at(late, QUANTILE), BAR_SECONDS, 's', 1)
    const times = `${at(late, 0.5).toFixed(1)} s, ${at(late, 1).toFixed(1)} s`
    report.note('median and maximum of them', `${times}; the API server’s clock has whole seconds`)
    report.note('processor time of the operator for each run, with its capture', `${(spent / before.length).toFixed(1)} ms`)
    report.atMost('s, p99 of the runs that were due after a restart', at(afterRestart, QUANTILE), BAR_SECONDS, 's', 1)
    for (const [claim, mebibytes] of [
      [`MiB of the operator with ${count} schedules before the first run`, idle.residentMebibytes],
      [`MiB of it after ${before.length} runs`, worked.residentMebibytes],
      ['peak MiB of it', worked.peakMebibytes],
      [`MiB of the second operator after ${count} runs`, last.residentMebibytes],
    ] as const)
      report.atMost(claim, mebibytes, BAR_MEBIBYTES, 'MiB')
    report.note('s until a new operator has caught up the runs of the outage', caughtUp.toFixed(1))
    const isOnce = all.length === count && names.size === count
    report.holds('each schedule has exactly one run', isOnce, `${all.length} runs of ${names.size} schedules`)
  },
})

/** The value below which this share of the sorted values is. */
const at = (sorted: readonly number[], share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
