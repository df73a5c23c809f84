import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NewObject } from '../../../crds/client/resource.ts'
import { createdAtOf } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import { eventually } from '../../support/eventually.ts'
import { readMemory, readProcessor } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { summarize } from '../harness/statistics.ts'
import { createFinished } from './stage/finished.ts'
import { plane } from './stage/plane.ts'
import { prepareAccountsAndRunners, profileFlags, whenAllFinished } from './stage/programs.ts'
import { send, sendSteadily } from './stage/requests.ts'
import { checkPictures } from './stage/verify.ts'

const MANY_RUNNERS = 200
const REQUESTS = 100
const PER_SECOND = 5
const BAR_MILLISECONDS = 50

export const claim = scenario({
  name: 'claim',
  shows: 'the time from a Screenshot’s creation to its claim with 200 idle runners',
  stage: plane(),
  run: async ({ stage, ...report }) => {
    const operator = await stage.startOperator()
    const { gateway, keys } = await prepareAccountsAndRunners(stage, { runners: MANY_RUNNERS, captureMilliseconds: 50 })
    report.progress(`${REQUESTS} Screenshots, ${PER_SECOND} a second`)
    const { accepted } = await sendSteadily({ urls: [gateway.url], keys, perSecond: PER_SECOND, seconds: REQUESTS / PER_SECOND })
    await whenAllFinished(operator)
    const { times } = await stage.fleet.ask({ times: true })
    const shots = await Promise.all(accepted.map(({ id }) => stage.screenshots.get(toObjectName(id))))
    const created = accepted.map(({ id }) => createdAtOf(id).getTime())
    const toClaim = summarize(shots.map(({ status }, n) => Date.parse(status?.startTime ?? '') - (created[n] ?? 0)))
    const toRunner = summarize(accepted.map(({ id }, n) => (times[toObjectName(id)] ?? Number.NaN) - (created[n] ?? 0)))
    const what = 'milliseconds from creation to'
    report.atMost(`${what} claim with ${MANY_RUNNERS} idle runners (p50)`, toClaim.p50, BAR_MILLISECONDS, 'ms')
    report.note(`${what} claim (p95)`, `${toClaim.p95.toFixed(0)} ms`)
    report.note(`${what} the start in the runner`, `p50 ${toRunner.p50.toFixed(0)} ms, p95 ${toRunner.p95.toFixed(0)} ms`)
  },
})

const BAR_MEBIBYTES = 250
const BAR_RESTART_SECONDS = 5
const RUNNERS = 5
const WORK_PER_SECOND = 10
const WORK_SECONDS = 30
const POLL_MILLISECONDS = 20

export const many = scenario({
  name: 'many',
  shows: 'memory of an operator with 10,000 live Screenshots, and its time to the first dispatch after a restart',
  stage: plane(),
  options: { live: 10_000, profile: undefined },
  run: async ({ stage, settings: { live, profile }, ...report }) => {
    const environment = { TINTYPE_RETENTION_MAX_LIVE: String(live * 2) }
    const first = await stage.startOperator({ environment })
    const { gateway, keys, accounts } = await prepareAccountsAndRunners(stage, { runners: RUNNERS, gateway: { environment } })
    const exitCode = await first.end('SIGTERM')
    report.progress(`making ${live} finished Screenshots`)
    for (const account of accounts) await createFinished(stage, account, Math.ceil(live / accounts.length))
    report.progress('creating a Screenshot and starting an operator')
    const { begun } = await stage.fleet.ask({})
    const waiting = await sendSteadily({ urls: [gateway.url], keys, perSecond: 1, seconds: 1 })
    const started = performance.now()
    const starting = stage.startOperator({ environment, flags: profileFlags(profile) })
    while ((await stage.fleet.ask({})).begun === begun) await sleep(POLL_MILLISECONDS)
    const restartSeconds = (performance.now() - started) / 1_000
    const operator = await starting
    const { used } = readProcessor({ used: [operator.pid] })
    const fresh = readMemory(operator.pid)
    report.progress('capturing more Screenshots')
    const asked = await sendSteadily({ urls: [gateway.url], keys, perSecond: WORK_PER_SECOND, seconds: WORK_SECONDS })
    const claim = `seconds from the start of an operator beside ${live} live Screenshots to its first dispatch`
    report.atMost(claim, restartSeconds, BAR_RESTART_SECONDS, 's', 1)
    report.note('processor time of the start', `${used} ms`)
    report.atMost('MiB of the operator after its start', fresh.residentMebibytes, BAR_MEBIBYTES, 'MiB')
    await checkPictures(report, gateway.url, [...waiting.accepted, ...asked.accepted])
    const worked = readMemory(operator.pid)
    report.atMost(`MiB of it after ${asked.accepted.length} more captures`, worked.residentMebibytes, BAR_MEBIBYTES, 'MiB')
    report.atMost('peak MiB of the operator', worked.peakMebibytes, BAR_MEBIBYTES, 'MiB')
    report.holds('the previous operator exited cleanly', exitCode === 0, `exit code ${exitCode}`)
    if (profile !== undefined) await operator.end('SIGTERM')
  },
})

/** The memory limit of operator and gateway in the chart. */
const LIMIT_MEBIBYTES = 384
const MAX_LARGE = 1_000
const LARGE_CAPTURES = 40
const LISTS = 10
const LONG_MILLISECONDS = 600_000
/** As large as an object of the Kubernetes API can be. Each has another text. */
const newHtml = () => `<!doctype html><p>${randomBytes(450_000).toString('hex')}${'text '.repeat(60_000)}`

export const large = scenario({
  name: 'large',
  shows: 'memory of operator and gateway with 1,000 Screenshots of 1.2 MB, as kubectl creates them',
  stage: plane({ fsync: false }),
  options: { live: MAX_LARGE },
  run: async ({ stage, settings, ...report }) => {
    const live = Math.min(settings.live, MAX_LARGE)
    const first = await stage.startOperator()
    const { gateway: before, keys, accounts } = await prepareAccountsAndRunners(stage, { runners: RUNNERS })
    const [accountName = ''] = accounts
    const [key = ''] = keys
    for (const program of [first, before]) await program.end('SIGTERM')
    const create = (name: string, spec: object) => {
      const metadata = { name, annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(100_000) } }
      const page = { url: 'https://example.com/', accountName, options: { html: newHtml() } }
      return stage.screenshots.create({ metadata, spec: { ...page, ...spec } } as NewObject<Screenshot>)
    }
    report.progress(`creating ${live} Screenshots of 1.2 MB for a pool that does not exist`)
    const waiting = Array.from({ length: live }, (_, n) => `waiting-${n}`)
    await mapConcurrently(waiting, 8, (name) => create(name, { poolName: 'nowhere' }))
    report.progress('starting an operator and a gateway')
    const [operator, gateway] = await Promise.all([stage.startOperator(), stage.startGateway()])
    const programs = Object.entries({ operator, gateway })
    const checkPeaks = (toClaim: (name: string) => string) => {
      for (const [name, { pid }] of programs) report.atMost(toClaim(name), readMemory(pid).peakMebibytes, LIMIT_MEBIBYTES, 'MiB')
    }
    checkPeaks((name) => `peak MiB of the ${name} at its start beside ${live}`)
    report.progress(`listing them ${LISTS} times at once`)
    const lists = await Promise.all(Array.from({ length: LISTS }, () => send(`${gateway.url}/v1/screenshots?limit=100`, { key })))
    const statuses = lists.map(({ status }) => status)
    report.holds(
      `${LISTS} lists of 100 are answered`,
      statuses.every((status) => status === 200),
      statuses.join(' '),
    )
    report.progress(`capturing ${LARGE_CAPTURES}`)
    const names = Array.from({ length: LARGE_CAPTURES }, (_, n) => `large-${n}`)
    await mapConcurrently(names, 8, (name) => create(name, {}))
    // The gateway lists them from its cache: reading 40 large objects again and again would load the API server.
    const areDone = async () => {
      const { status, text } = await send(`${gateway.url}/v1/screenshots?limit=100&status=completed`, { key })
      return status === 200 && JSON.parse(text).data.filter(({ options }: { options: object }) => 'html' in options).length === names.length
    }
    const ended = await eventually('all are captured', areDone, LONG_MILLISECONDS).catch(() => false)
    report.holds(`all ${LARGE_CAPTURES} large captures end`, ended === true, String(ended))
    checkPeaks((name) => `the same after lists and ${LARGE_CAPTURES} captures (${name})`)
    const areRunning = programs.every(([, { process }]) => process.exitCode === null)
    report.holds('operator and gateway still run', areRunning, String(areRunning))
  },
})
