// Tests from when on a webhook receives events, with real revisions of a real API server: events right after the response to its creation,
// and none from before.

import t from 'tap'
import { mergePatch } from '../../../crds/client/resource.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import { answerWith } from '../../support/servers/https-receiver.ts'
import { startReceiver, startStage } from './stage.ts'

const ROUNDS = 100
/** End of a capture by a runner whose clock is five minutes off. */
const SKEW_MILLISECONDS = 300_000

const stage = await startStage(t)
const receiver = await startReceiver(t)
const lead = () => stage.lead({ certificates: [receiver.ca] })
let leader = await lead()

t.beforeEach(async () => {
  await leader.end()
  await Promise.all([...(await stage.hooks.listAll()).map(({ metadata }) => stage.hooks.delete(metadata.name))])
  await Promise.all([...(await stage.shots.listAll()).map(({ metadata }) => stage.shots.delete(metadata.name))])
  receiver.received.length = 0
  receiver.answer = answerWith(200)
  leader = await lead()
})

const subscribe = (account: string) =>
  stage.hooks.create({
    metadata: { name: toObjectName(newId('wh', new Date())) },
    spec: { accountName: account, url: `${receiver.url}/${account}`, events: ['screenshot.queued', 'screenshot.completed'] },
  })

async function queue(account: string, name = toObjectName(newId('scr', new Date()))): Promise<string> {
  await stage.shots.create({ metadata: { name }, spec: { accountName: account, url: 'https://example.com/' } })
  return name
}

const complete = (name: string, at = Date.now()) =>
  stage.shots.patch(name, mergePatch({ status: completedStatus({ completionTime: new Date(at).toISOString() }) }), {
    subresource: 'status',
  })

/** Received events, as `<path> <type> <screenshot>`. */
const reported = () =>
  receiver.received
    .map(({ path, body }) => {
      const { type, data } = JSON.parse(body.toString())
      return `${path} ${type} ${toObjectName(data.screenshot.id)}`
    })
    .sort()

/** Resolves when the event of a later Screenshot arrived, and so all events before it. */
async function whenAllDelivered(count: number): Promise<string[]> {
  await receiver.whenReceived(count)
  await subscribe('last')
  const name = await queue('last')
  await receiver.whenReceived(count + 1)
  return reported().filter((line) => !line.endsWith(name))
}

t.test('a webhook receives screenshot.queued of Screenshots created right after it, and none from before', async (t) => {
  const rounds = Array.from({ length: ROUNDS }, async (_, round) => {
    const account = `a-${round}`
    await complete(await queue(account))
    await subscribe(account)
    return `/${account} screenshot.queued ${await queue(account)}`
  })
  const expected = await Promise.all(rounds)
  t.strictSame(await whenAllDelivered(ROUNDS), expected.sort())
})

t.test('the revisions of the API server decide, not the clocks of runners', async (t) => {
  const [early, late] = [await queue('c'), await queue('c')]
  await complete(early, Date.now() + SKEW_MILLISECONDS)
  await subscribe('c')
  await complete(late, Date.now() - SKEW_MILLISECONDS)
  t.strictSame(await whenAllDelivered(1), [`/c screenshot.completed ${late}`])
})

t.test('the next leader sends the remaining events of the last one once, and no old ones', async (t) => {
  const old = await queue('e', toObjectName(newId('scr', new Date(Date.now() - 3_600_000))))
  await complete(old, Date.now() - 3_500_000)
  await leader.end()
  const { creationTimestamp } = (await stage.shots.get(old)).metadata
  // The API server stores creation times in whole seconds.
  await eventually('the second is over', async () => Date.now() >= Date.parse(creationTimestamp) + 1_000)
  await subscribe('e')
  const young = await queue('e')
  leader = await lead()
  await receiver.whenReceived(1)
  await leader.end()
  leader = await lead()
  await complete(young)
  t.strictSame(await whenAllDelivered(2), [`/e screenshot.queued ${young}`, `/e screenshot.completed ${young}`].sort())
})
