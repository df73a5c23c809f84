import { setTimeout as sleep } from 'node:timers/promises'
import { countProcessor, readMemory } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { summarize } from '../harness/statistics.ts'
import { tableOf } from '../harness/table.ts'
import { type Plane, plane } from './stage/plane.ts'
import {
  countFinished,
  prepareAccountsAndRunners,
  processesOf,
  profileFlags,
  readEtcd,
  readMetric,
  whenAllFinished,
} from './stage/programs.ts'
import { sendSteadily } from './stage/requests.ts'
import { checkAccepted, checkPictures } from './stage/verify.ts'
import { readWrites, writesBetween } from './stage/writes.ts'

const RATE = 60
const RUNNERS = 40
const WARM_UP_SECONDS = 10
/** Above the target, so that the system limits the throughput and not the clients. */
const PRESSURE = 1.1
const BAR_WRITES = 5
const BAR_RATE = 60
const REST_SECONDS = 10

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Suffix of table titles with the batch size. */
const batchSuffix = (batch: number): string => (batch === 1 ? '' : `, asked for in batches of ${batch}`)

export const throughput = scenario({
  name: 'throughput',
  shows: 'Screenshots per second from end to end, with writes and processor time per Screenshot',
  stage: plane(),
  options: { rate: RATE, batch: 1, seconds: 60, profile: undefined },
  run: async ({ stage, settings: { rate, batch, seconds, profile }, ...report }) => {
    // Records are archived after a minute, so that the measurement includes archiving.
    const environment = { TINTYPE_RETENTION_LIVE_FOR_SECONDS: '60', TINTYPE_RETENTION_LIVE_MINIMUM_SECONDS: '20' }
    const operator = await stage.startOperator({ flags: profileFlags(profile), environment })
    const { gateway, keys } = await prepareAccountsAndRunners(stage, { runners: RUNNERS })
    report.progress('warming up')
    const urls = [gateway.url]
    const warm = await sendSteadily({ urls, keys, perSecond: rate / 2, seconds: WARM_UP_SECONDS })
    await whenAllFinished(operator)

    const processes = processesOf(stage, [operator], [gateway])
    report.progress('at rest')
    const { used: atRest } = await countProcessor(processes, () => sleep(REST_SECONDS * 1_000))
    report.progress(`${rate} a second for ${seconds} s`)
    const before = { writes: await readWrites(stage.admin), finished: await countFinished(operator), at: performance.now() }
    const { result, used } = await countProcessor(processes, async () => {
      const asking = sendSteadily({ urls, keys, perSecond: rate * PRESSURE, seconds, batch })
      await sleep(seconds * 1_000)
      const perSecond = ((await countFinished(operator)) - before.finished) / ((performance.now() - before.at) / 1_000)
      const asked = await asking
      await whenAllFinished(operator)
      return { asked, perSecond }
    })
    const { asked, perSecond } = result
    const total = (await countFinished(operator)) - before.finished
    const writes = writesBetween(before.writes, await readWrites(stage.admin))
    const busySeconds = (performance.now() - before.at) / 1_000
    const each = Object.entries(used).map(([name, milliseconds]) => {
      const idle = ((atRest[name] ?? 0) / REST_SECONDS) * busySeconds
      return { name, milliseconds: (milliseconds - idle) / total }
    })
    const whole = sum(each.map(({ milliseconds }) => milliseconds))
    const own = sum(each.map(({ name, milliseconds }) => (name === 'runners' || name === 'clients' ? 0 : milliseconds)))
    const rest = sum(Object.values(atRest)) / REST_SECONDS
    report.table({
      title: `Processor time per Screenshot (ms), simulated runners${batchSuffix(batch)}`,
      head: [...each.map(({ name }) => name), 'all', 'without runners and clients'],
      rows: [[...each.map(({ milliseconds }) => milliseconds), whole, own].map((milliseconds) => milliseconds.toFixed(2))],
    })
    const byCount = [...writes].sort(([, a], [, b]) => b - a)
    report.table(
      tableOf('Writes per Screenshot by resource, including pods and leases', byCount, {
        resource: ([resource]) => resource,
        'per Screenshot': ([, count]) => (count / total).toFixed(3),
      }),
    )
    const { p50, p95 } = summarize(asked.milliseconds)
    report.atLeast('Screenshots per second, from the request to the completion', perSecond, rate, '/s', 1)
    checkAccepted(report, asked)
    report.note('response time of the requests', `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`)
    report.atMost('writes to the API server per Screenshot', sum([...writes.values()]) / total, BAR_WRITES, '', 2)
    const bar = `processor time that ${BAR_RATE} a second take each second, of two processors’ 2000 ms`
    report.atMost(bar, whole * BAR_RATE + rest, 2_000, 'ms')
    report.progress('checking every record and picture')
    await checkPictures(report, gateway.url, [...warm.accepted, ...asked.accepted])
    const { repeated } = await stage.fleet.ask({})
    report.holds('no Screenshot was captured twice', repeated.length === 0, `${repeated.length} captures repeated`)
    if (profile !== undefined) await operator.end('SIGTERM')
  },
})

const SAMPLES = 40
/** Maximum growth of the last quarter's mean over the previous one. */
const FLAT = 1.1
/**
 * The API server compacts etcd every five minutes, up to the revision of five minutes ago. So the first compaction that frees space is
 * after ten minutes, and the size stays between constant bounds only from the second one on.
 */
const ETCD_MINUTES = 15
/** Number of accepted Screenshots that are checked one by one. */
const LOOKED_AT = 2_000
/** Time after which a program has written its log line. */
const LOG_MILLISECONDS = 500
/** Maximum number of rejections that are printed. More of them mean that the machine is too slow. */
const TOLD_REFUSALS = 10

const KINDS = ['live', 'etcd MiB', 'etcd in use MiB', 'operator MiB', 'gateway MiB'] as const
type Sample = Record<(typeof KINDS)[number], number>

export const steady = scenario({
  name: 'steady',
  shows: 'a steady rate for a long time: live count, etcd’s size and memories stay flat',
  stage: plane(),
  options: { rate: RATE, batch: 1, fill: 0, minutes: 20, profile: undefined },
  run: async ({ stage, settings: { rate, batch, fill, minutes, profile }, ...report }) => {
    // Reaches the limit after a quarter of the time.
    const maxLive = Math.min(10_000, Math.ceil((rate * minutes * 60) / 4))
    const environment = { TINTYPE_RETENTION_MAX_LIVE: String(maxLive), TINTYPE_RETENTION_LIVE_MINIMUM_SECONDS: '10' }
    const flags = profileFlags(profile)
    const operator = await stage.startOperator({ flags, environment })
    const { gateway, keys } = await prepareAccountsAndRunners(stage, { runners: RUNNERS, gateway: { flags, environment } })
    const samples: Sample[] = []
    const over = new AbortController()
    const sampling = (async () => {
      while (!over.signal.aborted) {
        await sleep((minutes * 60_000) / SAMPLES)
        const sample = await takeSample(stage, { operator, gateway })
        samples.push(sample)
        report.progress(KINDS.map((kind) => `${kind} ${sample[kind].toFixed(0)}`).join(', '))
      }
    })()
    let refusals = 0
    const onRefused = (what: string) => {
      if (++refusals > TOLD_REFUSALS) return
      // The response arrives before the log line.
      setTimeout(() => report.progress(`refused: ${what}; the gateway says: ${lastFailure(gateway.output())}`), LOG_MILLISECONDS)
    }
    const asked = await sendSteadily({ urls: [gateway.url], keys, perSecond: rate, seconds: (fill + minutes) * 60, batch, onRefused })
    over.abort()
    await sampling
    const filled = fill === 0 ? '' : ` after ${fill} that fill`
    report.table({
      title: `${rate} a second for ${minutes} minutes${filled}${batchSuffix(batch)}`,
      head: ['minute', ...KINDS],
      rows: samples.flatMap((sample, n) =>
        n % 4 === 3 ? [[(((n + 1) * minutes) / SAMPLES).toFixed(1), ...KINDS.map((kind) => sample[kind].toFixed(0))]] : [],
      ),
    })
    checkAccepted(report, asked)
    for (const kind of KINDS) {
      const growth = growthOf(samples.slice(-SAMPLES).map((sample) => sample[kind]))
      const what = `${kind}: mean of the last quarter relative to the quarter before`
      if (!kind.startsWith('etcd') || fill + minutes / 2 >= ETCD_MINUTES) report.atMost(what, growth, FLAT, '', 2)
      else report.note(`${what} (too short to be judged)`, growth.toFixed(2))
    }
    const step = Math.max(1, Math.floor(asked.accepted.length / LOOKED_AT))
    const checked = asked.accepted.filter((_, n) => n % step === 0)
    await checkPictures(report, gateway.url, checked, 'every checked')
    if (profile !== undefined) for (const program of [operator, gateway]) await program.end('SIGTERM')
  },
})

type Program = Awaited<ReturnType<Plane['startOperator' | 'startGateway']>>

async function takeSample(stage: Plane, { operator, gateway }: { operator: Program; gateway: Program }): Promise<Sample> {
  return {
    live: await readMetric(operator, 'screenshot_jobs'),
    'etcd MiB': await readEtcd(stage, 'etcd_mvcc_db_total_size_in_bytes'),
    'etcd in use MiB': await readEtcd(stage, 'etcd_mvcc_db_total_size_in_use_in_bytes'),
    'operator MiB': readMemory(operator.pid).residentMebibytes,
    'gateway MiB': readMemory(gateway.pid).residentMebibytes,
  }
}

/** The last error in a gateway's log, with the cause that the response does not contain. */
function lastFailure(output: string): string {
  const line = output.split('\n').findLast((text) => text.startsWith('{') && text.endsWith('}') && text.includes('"request failed"'))
  return line === undefined ? 'nothing' : (JSON.parse(line) as { err: { message: string } }).err.message
}

function growthOf(values: readonly number[]): number {
  const quarter = Math.floor(values.length / 4)
  const mean = (part: readonly number[]) => sum(part) / part.length
  return mean(values.slice(-quarter)) / mean(values.slice(-2 * quarter, -quarter))
}
