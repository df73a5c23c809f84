import { setTimeout as sleep } from 'node:timers/promises'
import { leases } from '../../../crds/client/kinds.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { scenario } from '../harness/scenario.ts'
import { type OperatorPod, type Plane, plane } from './stage/plane.ts'
import { findLeader, prepareAccountsAndRunners } from './stage/programs.ts'
import { type Accepted, sendSteadily } from './stage/requests.ts'
import { checkAccepted, checkPictures } from './stage/verify.ts'

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
const CALM_MILLISECONDS = 3_000
const POLL_MILLISECONDS = 20

export const leaders = scenario({
  name: 'leaders',
  shows: 'time until a standby leads after SIGKILL, a lost node and SIGTERM, without lost Screenshots',
  stage: plane(),
  run: async ({ stage, ...report }) => {
    const operators = [await stage.startOperator(), await stage.startOperator()]
    const { gateway, keys } = await prepareAccountsAndRunners(stage, { runners: RUNNERS })
    const accepted: Accepted[] = []
    for (const { name, bar, end } of ENDS) {
      const leader = await findLeader(operators)
      report.progress(`${name} under load`)
      const asking = sendSteadily({ urls: [gateway.url], keys, perSecond: RATE, seconds: LOAD_SECONDS })
      await sleep(CALM_MILLISECONDS)
      const { lease, work } = await measure(stage, () => end(leader))
      report.atMost(`seconds after ${name} until another operator holds the lease`, lease, bar, 's', 1)
      report.note(`after ${name} captures go on`, `${work.toFixed(1)} s after it`)
      operators.splice(operators.indexOf(leader), 1, await stage.startOperator())
      const asked = await asking
      accepted.push(...asked.accepted)
      checkAccepted(report, asked, `${name}: `)
    }
    await checkPictures(report, gateway.url, accepted)
  },
})

/** Seconds until the lease has another holder, and until the first capture after that. */
async function measure(stage: Plane, end: () => unknown): Promise<{ lease: number; work: number }> {
  const client = new Resource(stage.admin, leases)
  const holder = async () => (await client.get('tintype-operator')).spec?.holderIdentity ?? ''
  const before = await holder()
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1_000
  void end()
  const until = async (isThere: () => Promise<boolean>) => {
    while (!(await isThere().catch(() => false))) {
      if (seconds() > 120) throw new Error('no other leader within 120 s')
      await sleep(POLL_MILLISECONDS)
    }
    return seconds()
  }
  const lease = await until(async () => !['', before].includes(await holder()))
  const { begun } = await stage.fleet.ask({})
  const work = await until(async () => (await stage.fleet.ask({})).begun > begun)
  return { lease, work }
}
