import { leases } from '../../../crds/client/core-resources.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { eventually } from '../../support/eventually.ts'
import { atMost, type Finding, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { prepareAccountsAndRunners } from '../stage/accounts-and-runners.ts'
import { type Accepted, sendSteadily } from '../stage/clients.ts'
import { type OperatorPod, type Stage, withStage } from '../stage/stage.ts'
import { describeOutcome, verifyAll } from '../stage/verify.ts'

/** Maximum seconds until another operator is the leader. */
const ENDS = [
  { name: 'SIGKILL', bar: 5, end: (leader: OperatorPod) => leader.end('SIGKILL') },
  {
    name: 'a lost node',
    bar: 17,
    end: (leader: OperatorPod) => {
      leader.loseNode()
      return leader.end('SIGKILL')
    },
  },
  { name: 'SIGTERM', bar: 2, end: (leader: OperatorPod) => leader.process.kill('SIGTERM') },
] as const
const RUNNERS = 10
const RATE = 5
const LOAD_SECONDS = 30
const POLL_MILLISECONDS = 20

/** Time until another operator is the leader. */
export const leaders: Part = {
  name: 'leaders',
  shows: 'time until a standby leads after SIGKILL, a lost node and SIGTERM, without lost Screenshots',
  run: (context) => withStage((stage) => run(stage, context)),
}

async function run(stage: Stage, { progress }: PartContext): Promise<PartResult> {
  const operators = [await stage.startOperator(), await stage.startOperator()]
  const { gateway, keys } = await prepareAccountsAndRunners(stage, { runners: RUNNERS })
  const accepted: Accepted[] = []
  const findings: Finding[] = []
  for (const { name, bar, end } of ENDS) {
    const leader = await findLeader(operators)
    progress(`${name} under load`)
    const asking = sendSteadily({ urls: [gateway.url], keys, perSecond: RATE, seconds: LOAD_SECONDS })
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    const { lease, work } = await measure(stage, () => end(leader))
    findings.push(
      atMost(`seconds after ${name} until another operator holds the lease`, lease, bar, 's', 1),
      holds(`after ${name} captures go on`, true, `${work.toFixed(1)} s after it`),
    )
    operators.splice(operators.indexOf(leader), 1, await stage.startOperator())
    const asked = await asking
    accepted.push(...asked.accepted)
    findings.push(holds('every request was accepted meanwhile', Object.keys(asked.others).length === 0, JSON.stringify(asked.others)))
  }
  const outcome = await verifyAll(gateway.url, accepted)
  const isWhole = outcome.faults.length === 0 && outcome.completed === accepted.length
  return { findings: [...findings, holds('every accepted Screenshot ended with its own picture', isWhole, describeOutcome(outcome))] }
}

/** The current leader. */
export async function findLeader(operators: readonly OperatorPod[]): Promise<OperatorPod> {
  return eventually('an operator leads', async () => {
    const leading = await Promise.all(operators.map((operator) => operator.isLeader()))
    return leading.filter(Boolean).length === 1 && operators[leading.indexOf(true)]
  })
}

/** Seconds until the lease has another holder, and until the first capture after that. */
async function measure(stage: Stage, end: () => unknown): Promise<{ lease: number; work: number }> {
  const client = new Resource(stage.admin, leases)
  const holder = async () => (await client.get('tintype-operator')).spec?.holderIdentity ?? ''
  const before = await holder()
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1_000
  void end()
  const until = async (isThere: () => Promise<boolean>) => {
    while (!(await isThere().catch(() => false))) {
      if (seconds() > 120) throw new Error('no other leader within 120 s')
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS))
    }
    return seconds()
  }
  const lease = await until(async () => !['', before].includes(await holder()))
  const { begun } = await stage.fleet.send({})
  const work = await until(async () => (await stage.fleet.send({})).begun > begun)
  return { lease, work }
}
