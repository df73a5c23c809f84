import { setTimeout as sleep } from 'node:timers/promises'
import type { Table } from '../../bench/report/table.ts'
import { atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { batchSuffix, profileFlags, RATE } from '../settings.ts'
import { prepareAccountsAndRunners } from '../stage/accounts-and-runners.ts'
import { sendSteadily } from '../stage/clients.ts'
import { readMemory, readMetric } from '../stage/processes.ts'
import { type Stage, textOf, withStage } from '../stage/stage.ts'
import { describeOutcome, verifyAll } from '../stage/verify.ts'

const RUNNERS = 40
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

/** Checks that nothing grows. */
export const steady: Part = {
  name: 'steady',
  shows: 'a steady rate for a long time: live count, etcd’s size and memories stay flat',
  run: (context) => withStage((stage) => run(stage, context)),
}

async function run(stage: Stage, { settings: { rate = RATE, batch, fill, minutes, profile }, progress }: PartContext): Promise<PartResult> {
  // Reaches the limit after a quarter of the time.
  const maxLive = Math.min(10_000, Math.ceil((rate * minutes * 60) / 4))
  const environment = { TINTYPE_RETENTION_MAX_LIVE: String(maxLive), TINTYPE_RETENTION_LIVE_MINIMUM_SECONDS: '10' }
  const flags = profileFlags(profile)
  const operator = await stage.startOperator({ flags, environment })
  const { gateway, keys } = await prepareAccountsAndRunners(stage, { runners: RUNNERS, gateway: { flags, environment } })
  const samples: Sample[] = []
  const over = new AbortController()
  const take = async (): Promise<Sample> => {
    const etcd = await textOf(`${stage.release.plane.etcdUrl}/metrics`)
    const size = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(etcd)?.[1]) / 2 ** 20
    return {
      live: await readMetric(operator, 'screenshot_jobs'),
      'etcd MiB': size('etcd_mvcc_db_total_size_in_bytes'),
      'etcd in use MiB': size('etcd_mvcc_db_total_size_in_use_in_bytes'),
      'operator MiB': readMemory(operator.pid).residentMebibytes,
      'gateway MiB': readMemory(gateway.pid).residentMebibytes,
    }
  }
  const sampling = (async () => {
    while (!over.signal.aborted) {
      await sleep((minutes * 60_000) / SAMPLES)
      samples.push(await take())
      progress(KINDS.map((kind) => `${kind} ${samples.at(-1)?.[kind].toFixed(0)}`).join(', '))
    }
  })()
  const started = performance.now()
  let refusals = 0
  const onRefused = (what: string) => {
    if (++refusals > TOLD_REFUSALS) return
    // The response arrives before the log line.
    setTimeout(() => progress(`refused: ${what}; the gateway says: ${lastFailure(gateway.output())}`), LOG_MILLISECONDS)
  }
  const asked = await sendSteadily({ urls: [gateway.url], keys, perSecond: rate, seconds: (fill + minutes) * 60, batch, onRefused })
  const seconds = (performance.now() - started) / 1_000
  over.abort()
  await sampling
  const step = Math.max(1, Math.floor(asked.accepted.length / LOOKED_AT))
  const outcome = await verifyAll(
    gateway.url,
    asked.accepted.filter((_, n) => n % step === 0),
  )
  if (profile !== undefined) for (const program of [operator, gateway]) await program.end('SIGTERM')
  const tables: Table[] = [
    {
      title: `${rate} a second for ${minutes} minutes${fill === 0 ? '' : ` after ${fill} that fill`}${batchSuffix(batch)}`,
      head: ['minute', ...KINDS],
      rows: samples.flatMap((sample, n) =>
        n % 4 === 3 ? [[(((n + 1) * minutes) / SAMPLES).toFixed(1), ...KINDS.map((kind) => sample[kind].toFixed(0))]] : [],
      ),
    },
  ]
  const findings = [
    holds(
      'every request was accepted',
      Object.keys(asked.others).length === 0,
      `${asked.accepted.length} accepted in ${seconds.toFixed(0)} s, others ${JSON.stringify(asked.others)}`,
    ),
    ...KINDS.map((kind) => {
      const growth = growthOf(samples.slice(-SAMPLES).map((sample) => sample[kind]))
      const isEvaluated = !kind.startsWith('etcd') || fill + minutes / 2 >= ETCD_MINUTES
      const what = `${kind}: mean of the last quarter relative to the quarter before`
      return isEvaluated ? atMost(what, growth, FLAT, '', 2) : holds(`${what} (too short to verifyAll)`, true, growth.toFixed(2))
    }),
    holds(
      'every checked Screenshot ended with its own picture',
      outcome.faults.length === 0 && Object.keys(outcome.failed).length === 0,
      describeOutcome(outcome),
    ),
  ]
  return { findings, tables }
}

/** The last error in a gateway's log, with the cause that the response does not contain. */
function lastFailure(output: string): string {
  const line = output.split('\n').findLast((text) => text.startsWith('{') && text.endsWith('}') && text.includes('"request failed"'))
  return line === undefined ? 'nothing' : (JSON.parse(line) as { err: { message: string } }).err.message
}

function growthOf(values: readonly number[]): number {
  const quarter = Math.floor(values.length / 4)
  const mean = (part: readonly number[]) => part.reduce((sum, value) => sum + value, 0) / part.length
  return mean(values.slice(-quarter)) / mean(values.slice(-2 * quarter, -quarter))
}
