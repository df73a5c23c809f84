import { randomBytes } from 'node:crypto'
import type { NewObject } from '../../../crds/client/resource.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { mapConcurrently } from '../../../crds/src/runtime/map-concurrently.ts'
import { eventually } from '../../support/eventually.ts'
import { atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { prepareAccountsAndRunners } from '../stage/accounts-and-runners.ts'
import { send } from '../stage/clients.ts'
import { readMemory } from '../stage/processes.ts'
import type { Program } from '../stage/program.ts'
import { type Stage, withStage } from '../stage/stage.ts'

/** The memory limit of operator and gateway in the chart. */
const BAR_MEBIBYTES = 384
const MAX_LIVE = 1_000
const RUNNERS = 5
const CAPTURES = 40
const LISTS = 10
const LONG_MILLISECONDS = 600_000
/** As large as an object of the Kubernetes API can be. Each has another text. */
const newHtml = () => `<!doctype html><p>${randomBytes(450_000).toString('hex')}${'text '.repeat(60_000)}`

/** Operators and gateways beside objects that are as large as the Kubernetes API allows. */
export const large: Part = {
  name: 'large',
  shows: 'memory of operator and gateway with 1,000 Screenshots of 1.2 MB, as kubectl creates them',
  run: (context) => withStage((stage) => run(stage, context), { fsync: false }),
}

async function run(stage: Stage, { settings, progress }: PartContext): Promise<PartResult> {
  const live = Math.min(settings.live, MAX_LIVE)
  const first = await stage.startOperator()
  const { gateway: before, keys, accounts } = await prepareAccountsAndRunners(stage, { runners: RUNNERS })
  const [account = ''] = accounts
  const [key = ''] = keys
  for (const program of [first, before]) await program.end('SIGTERM')
  const create = (name: string, spec: object) => {
    const metadata = { name, annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(100_000) } }
    const page = { url: 'https://example.com/', accountName: account, options: { html: newHtml() } }
    return stage.screenshots.create({ metadata, spec: { ...page, ...spec } } as NewObject<Screenshot>)
  }
  progress(`creating ${live} Screenshots of 1.2 MB for a pool that does not exist`)
  const waiting = Array.from({ length: live }, (_, n) => `waiting-${n}`)
  await mapConcurrently(waiting, 8, (name) => create(name, { poolName: 'nowhere' }))
  progress('starting an operator and a gateway')
  const [operator, gateway] = await Promise.all([stage.startOperator(), stage.startGateway()])
  const programs: Record<string, Program> = { operator, gateway }
  const started = peaksOf(programs)
  progress(`listing them ${LISTS} times at once`)
  const lists = await Promise.all(Array.from({ length: LISTS }, () => send(`${gateway.url}/v1/screenshots?limit=100`, { key })))
  progress(`capturing ${CAPTURES}`)
  const names = Array.from({ length: CAPTURES }, (_, n) => `large-${n}`)
  await mapConcurrently(names, 8, (name) => create(name, {}))
  // The gateway lists them from its cache: reading 40 large objects again and again would load the API server.
  const isDone = async () => {
    const { status, text } = await send(`${gateway.url}/v1/screenshots?limit=100&status=completed`, { key })
    return status === 200 && JSON.parse(text).data.filter(({ options }: { options: object }) => 'html' in options).length === CAPTURES
  }
  const ended = await eventually('all are captured', isDone, LONG_MILLISECONDS).catch(() => false)
  const worked = peaksOf(programs)
  const isRunning = Object.values(programs).every(({ process }) => process.exitCode === null)
  return {
    findings: [
      ...Object.entries(started).map(([name, peak]) =>
        atMost(`peak MiB of the ${name} at its start beside ${live}`, peak, BAR_MEBIBYTES, 'MiB'),
      ),
      ...Object.entries(worked).map(([name, peak]) =>
        atMost(`the same after lists and ${CAPTURES} captures (${name})`, peak, BAR_MEBIBYTES, 'MiB'),
      ),
      holds(
        `${LISTS} lists of 100 are answered`,
        lists.every(({ status }) => status === 200),
        lists.map(({ status }) => status).join(' '),
      ),
      holds(`all ${CAPTURES} large captures end`, ended === true, String(ended)),
      holds('operator and gateway still run', isRunning, String(isRunning)),
    ],
  }
}

const peaksOf = (programs: Record<string, Program>): Record<string, number> =>
  Object.fromEntries(Object.entries(programs).map(([name, { pid }]) => [name, readMemory(pid).peakMebibytes]))
