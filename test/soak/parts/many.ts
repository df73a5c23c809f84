import { createFinished } from '../../bench/rest/finished.ts'
import { eventually } from '../../support/eventually.ts'
import { atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { askSteadily } from '../stage/clients.ts'
import { openOffice } from '../stage/office.ts'
import { readMemory, readMetric, readProcessor } from '../stage/processes.ts'
import { type Stage, withStage } from '../stage/stage.ts'
import { judge, toWords } from '../stage/truth.ts'

const BAR_MEBIBYTES = 250
const BAR_RESTART_SECONDS = 5
const RUNNERS = 5

/** An operator beside as many live records as there may be. */
export const many: Part = {
  name: 'many',
  shows: 'memory of an operator with 10,000 live Screenshots, and how soon it works after a restart beside them',
  run: (context) => withStage((stage) => run(stage, context)),
}

async function run(stage: Stage, { settings: { live }, tell }: PartContext): Promise<PartResult> {
  const environment = { TINTYPE_RETENTION_MAX_LIVE: String(live * 2) }
  const first = await stage.startOperator({ environment })
  const { gateway, keys, accounts } = await openOffice(stage, { runners: RUNNERS, gateway: { environment } })
  tell(`making ${live} finished Screenshots`)
  for (const account of accounts) await createFinished(stage.admin, account, Math.ceil(live / accounts.length))
  await eventually('the operator has seen them', async () => (await readMetric(first, 'screenshot_jobs', 'Completed')) >= live, 120_000)
  const full = readMemory(first.pid)
  tell('stopping the operator, asking for a Screenshot, starting another')
  const exitCode = await first.end('SIGTERM')
  const { begun } = await stage.fleet.tell({})
  const asked = await askSteadily({ urls: [gateway.url], keys, perSecond: 1, seconds: 1 })
  const started = performance.now()
  const starting = stage.startOperator({ environment })
  await eventually('a capture was begun', async () => (await stage.fleet.tell({})).begun > begun, 120_000)
  const restartSeconds = (performance.now() - started) / 1_000
  const second = await starting
  const used = readProcessor({ operator: [second.pid] }).operator ?? 0
  const verdict = await judge(gateway.url, asked.accepted)
  const fresh = readMemory(second.pid)
  const findings = [
    atMost(`MiB of an operator with ${live} live Screenshots that came one by one`, full.residentMebibytes, BAR_MEBIBYTES, 'MiB'),
    atMost('the most that it ever held', full.peakMebibytes, BAR_MEBIBYTES, 'MiB'),
    atMost('MiB of one that was started beside them', fresh.residentMebibytes, BAR_MEBIBYTES, 'MiB'),
    atMost('seconds from the start of a new operator beside them to its first dispatch', restartSeconds, BAR_RESTART_SECONDS, 's', 1),
    holds('processor time that this start took', true, `${used} ms`),
    holds('the operator before it ended as asked', exitCode === 0, `exit code ${exitCode}`),
    holds('the Screenshot that waited meanwhile was captured', verdict.completed === 1, toWords(verdict)),
  ]
  return { findings }
}
