import { createFinished } from '../../bench/rest/finished.ts'
import { atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { profileFlags } from '../settings.ts'
import { prepareAccountsAndRunners } from '../stage/accounts-and-runners.ts'
import { sendSteadily } from '../stage/clients.ts'
import { readMemory, readProcessor } from '../stage/processes.ts'
import { type Stage, withStage } from '../stage/stage.ts'
import { describeOutcome, verifyAll } from '../stage/verify.ts'

const BAR_MEBIBYTES = 250
const BAR_RESTART_SECONDS = 5
const RUNNERS = 5
const WORK_PER_SECOND = 10
const WORK_SECONDS = 30
const POLL_MILLISECONDS = 20

/** An operator with the maximum number of live records. */
export const many: Part = {
  name: 'many',
  shows: 'memory of an operator with 10,000 live Screenshots, and its time to the first dispatch after a restart',
  run: (context) => withStage((stage) => run(stage, context)),
}

async function run(stage: Stage, { settings: { live, profile }, progress }: PartContext): Promise<PartResult> {
  const environment = { TINTYPE_RETENTION_MAX_LIVE: String(live * 2) }
  const first = await stage.startOperator({ environment })
  const { gateway, keys, accounts } = await prepareAccountsAndRunners(stage, { runners: RUNNERS, gateway: { environment } })
  const exitCode = await first.end('SIGTERM')
  progress(`making ${live} finished Screenshots`)
  for (const account of accounts) await createFinished(stage.admin, account, Math.ceil(live / accounts.length))
  progress('creating a Screenshot and starting an operator')
  const { begun } = await stage.fleet.send({})
  const waiting = await sendSteadily({ urls: [gateway.url], keys, perSecond: 1, seconds: 1 })
  const started = performance.now()
  const flags = profileFlags(profile)
  const starting = stage.startOperator({ environment, flags })
  while ((await stage.fleet.send({})).begun === begun) await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS))
  const restartSeconds = (performance.now() - started) / 1_000
  const operator = await starting
  const used = readProcessor({ operator: [operator.pid] }).operator ?? 0
  const fresh = readMemory(operator.pid)
  progress('capturing more Screenshots')
  const asked = await sendSteadily({ urls: [gateway.url], keys, perSecond: WORK_PER_SECOND, seconds: WORK_SECONDS })
  const accepted = [...waiting.accepted, ...asked.accepted]
  const outcome = await verifyAll(gateway.url, accepted)
  const worked = readMemory(operator.pid)
  if (profile !== undefined) await operator.end('SIGTERM')
  const findings = [
    atMost(
      `seconds from the start of an operator beside ${live} live Screenshots to its first dispatch`,
      restartSeconds,
      BAR_RESTART_SECONDS,
      's',
      1,
    ),
    holds('processor time of the start', true, `${used} ms`),
    atMost('MiB of the operator after its start', fresh.residentMebibytes, BAR_MEBIBYTES, 'MiB'),
    atMost(`MiB of it after ${asked.accepted.length} more captures`, worked.residentMebibytes, BAR_MEBIBYTES, 'MiB'),
    atMost('peak MiB of the operator', worked.peakMebibytes, BAR_MEBIBYTES, 'MiB'),
    holds('the previous operator exited cleanly', exitCode === 0, `exit code ${exitCode}`),
    holds(
      'every accepted Screenshot ended with its own picture',
      outcome.completed === accepted.length && outcome.faults.length === 0,
      describeOutcome(outcome),
    ),
  ]
  return { findings }
}
