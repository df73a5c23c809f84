import { setTimeout as sleep } from 'node:timers/promises'
import { summarize } from '../../bench/report/statistics.ts'
import type { Table } from '../../bench/report/table.ts'
import { readWrites, writesBetween } from '../../bench/rest/api-server-writes.ts'
import { eventually } from '../../support/eventually.ts'
import { atLeast, atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { batchSuffix, profileFlags, RATE } from '../settings.ts'
import { prepareAccountsAndRunners } from '../stage/accounts-and-runners.ts'
import { sendSteadily } from '../stage/clients.ts'
import { type Processes, processesOf, readMetric, readProcessor } from '../stage/processes.ts'
import { type Stage, withStage } from '../stage/stage.ts'
import { describeOutcome, verifyAll } from '../stage/verify.ts'

const RUNNERS = 40
const WARM_UP_SECONDS = 10
/** Above the target, so that the system limits the throughput and not the clients. */
const PRESSURE = 1.1
const BAR_WRITES = 5
const BAR_RATE = 60
const REST_MILLISECONDS = 10_000

/** Screenshots per second at the requested rate, and the cost of each. */
export const throughput: Part = {
  name: 'throughput',
  shows: 'Screenshots per second from end to end, with writes and processor time per Screenshot',
  run: (context) => withStage((stage) => run(stage, context)),
}

async function run(stage: Stage, { settings, progress }: PartContext): Promise<PartResult> {
  const { rate = RATE, batch, seconds, profile } = settings
  const flags = profileFlags(profile)
  // Records are archived after a minute, so that the measurement includes archiving.
  const environment = { TINTYPE_RETENTION_LIVE_FOR_SECONDS: '60', TINTYPE_RETENTION_LIVE_MINIMUM_SECONDS: '20' }
  const operator = await stage.startOperator({ flags, environment })
  const { gateway, keys } = await prepareAccountsAndRunners(stage, { runners: RUNNERS })
  progress('warming up')
  const urls = [gateway.url]
  const warm = await sendSteadily({ urls, keys, perSecond: rate / 2, seconds: WARM_UP_SECONDS })
  await eventually('the warm-up has finished', async () => (await readMetric(operator, 'screenshot_jobs', 'Pending')) === 0)

  const processes = processesOf(stage, [operator], [gateway])
  progress('at rest')
  const atRest = await whileResting(processes)
  const finished = () => readMetric(operator, 'screenshot_job_duration_seconds_count')
  const before = {
    writes: await readWrites(stage.admin),
    processor: readProcessor(processes),
    finished: await finished(),
    at: performance.now(),
  }
  progress(`${rate} a second for ${seconds} s`)
  const asking = sendSteadily({ urls, keys, perSecond: rate * PRESSURE, seconds, batch })
  await sleep(seconds * 1_000)
  const within = { finished: (await finished()) - before.finished, seconds: (performance.now() - before.at) / 1_000 }
  const asked = await asking
  await eventually(
    'all Screenshots have finished',
    async () =>
      (await readMetric(operator, 'screenshot_jobs', 'Pending')) + (await readMetric(operator, 'screenshot_jobs', 'Running')) === 0,
    300_000,
  )
  const total = (await finished()) - before.finished
  const processor = readProcessor(processes)
  const writes = writesBetween(before.writes, await readWrites(stage.admin))
  const busySeconds = (performance.now() - before.at) / 1_000
  const each = Object.keys(processor).map((name) => {
    const used = (processor[name] ?? 0) - (before.processor[name] ?? 0)
    return [name, (used - (atRest[name] ?? 0) * busySeconds) / total] as const
  })
  const whole = each.reduce((sum, [, used]) => sum + used, 0)
  const rest = Object.values(atRest).reduce((sum, used) => sum + used, 0)
  const outside = ['runners', 'clients']
  const own = each.reduce((sum, [name, used]) => sum + (outside.includes(name) ? 0 : used), 0)
  progress('checking every record and picture')
  const outcome = await verifyAll(gateway.url, [...warm.accepted, ...asked.accepted])
  const { repeated } = await stage.fleet.send({})
  const { p50, p95 } = summarize(asked.milliseconds)
  if (profile !== undefined) await operator.end('SIGTERM')
  const writesEach = [...writes.values()].reduce((sum, count) => sum + count, 0) / total
  const tables: Table[] = [
    {
      title: `Processor time per Screenshot (ms), simulated runners${batchSuffix(batch)}`,
      head: [...each.map(([name]) => name), 'all', 'without runners and clients'],
      rows: [[...each.map(([, used]) => used.toFixed(2)), whole.toFixed(2), own.toFixed(2)]],
    },
    {
      title: 'Writes per Screenshot by resource, including pods and leases',
      head: ['resource', 'per Screenshot'],
      rows: [...writes].sort(([, a], [, b]) => b - a).map(([resource, count]) => [resource, (count / total).toFixed(3)]),
    },
  ]
  const findings = [
    atLeast('Screenshots per second, from the request to the completion', within.finished / within.seconds, rate, '/s', 1),
    holds(
      'every request was accepted',
      Object.keys(asked.others).length === 0,
      `${asked.accepted.length} accepted, others ${JSON.stringify(asked.others)}; answers p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`,
    ),
    atMost('writes to the API server per Screenshot', writesEach, BAR_WRITES, '', 2),
    atMost(`processor time that ${BAR_RATE} a second take each second, of two processors’ 2000 ms`, whole * BAR_RATE + rest, 2_000, 'ms'),
    holds(
      'every accepted Screenshot ended with its own picture',
      outcome.faults.length === 0 && Object.keys(outcome.failed).length === 0,
      describeOutcome(outcome),
    ),
    holds('no Screenshot was captured twice', repeated.length === 0, `${repeated.length} captures repeated`),
  ]
  return { findings, tables }
}

/** Processor time per second of idle programs. */
async function whileResting(processes: Processes): Promise<Record<string, number>> {
  const before = readProcessor(processes)
  await sleep(REST_MILLISECONDS)
  const after = readProcessor(processes)
  return Object.fromEntries(
    Object.keys(after).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / (REST_MILLISECONDS / 1_000)]),
  )
}
