import { createdAtOf } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { summarize } from '../../bench/report/statistics.ts'
import { eventually } from '../../support/eventually.ts'
import { atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { prepareAccountsAndRunners } from '../stage/accounts-and-runners.ts'
import { sendSteadily } from '../stage/clients.ts'
import { readMetric } from '../stage/processes.ts'
import { type Stage, withStage } from '../stage/stage.ts'
import { measureStatusPrice } from '../stage/status-price.ts'

const RUNNERS = 200
const REQUESTS = 100
const PER_SECOND = 5
const BAR_MILLISECONDS = 50

/** Time until one of many idle runners is claimed, and what the policy on the status adds to claims and reports. */
export const claim: Part = {
  name: 'claim',
  shows: 'the time from a Screenshot’s creation to its claim with 200 idle runners, and the price of the policy on who writes a status',
  run: async (context) => {
    const { findings } = await withStage((stage) => run(stage, context))
    return { findings: [...findings, ...(await measureStatusPrice(context.progress))] }
  },
}

async function run(stage: Stage, { progress }: PartContext): Promise<PartResult> {
  const operator = await stage.startOperator()
  const { gateway, keys } = await prepareAccountsAndRunners(stage, { runners: RUNNERS, captureMilliseconds: 50 })
  progress(`${REQUESTS} Screenshots, ${PER_SECOND} a second`)
  const { accepted } = await sendSteadily({ urls: [gateway.url], keys, perSecond: PER_SECOND, seconds: REQUESTS / PER_SECOND })
  await eventually('all Screenshots have finished', async () => (await readMetric(operator, 'screenshot_jobs', 'Pending')) === 0)
  const { times } = await stage.fleet.send({ times: true })
  const shots = await Promise.all(accepted.map(({ id }) => stage.screenshots.get(toObjectName(id))))
  const created = accepted.map(({ id }) => createdAtOf(id).getTime())
  const toClaim = summarize(shots.map(({ status }, n) => Date.parse(status?.startTime ?? '') - (created[n] ?? 0)))
  const toRunner = summarize(accepted.map(({ id }, n) => (times[toObjectName(id)] ?? Number.NaN) - (created[n] ?? 0)))
  const findings = [
    atMost(`milliseconds from creation to claim with ${RUNNERS} idle runners (p50)`, toClaim.p50, BAR_MILLISECONDS, 'ms'),
    holds('milliseconds from creation to claim (p95)', true, `${toClaim.p95.toFixed(0)} ms`),
    holds(
      'milliseconds from creation to the start in the runner',
      true,
      `p50 ${toRunner.p50.toFixed(0)} ms, p95 ${toRunner.p95.toFixed(0)} ms`,
    ),
  ]
  return { findings }
}
