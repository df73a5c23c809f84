import t from 'tap'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { AccountSpec } from '../../../crds/src/kinds/account.ts'
import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { eventually } from '../../support/eventually.ts'
import { isFullLength } from '../../support/length.ts'
import { fail } from '../api-gateway/runner-role.ts'
import { startStage } from '../quota/stage.ts'
import { accountsOf, captures, endEach, outcomeOf, PAGE, pictureOf, take } from './stage.ts'

// What links cost when pages fail and pictures are stale, with the part of the operator that manages quota.

const stage = await startStage(t, {})
const { world } = stage
const gateways = [await stage.startGateway(), await stage.startGateway()] as const
const createAccount = accountsOf(world, gateways[0], (name, spec) => stage.createAccount(name, { plan: 'scale', ...spec } as AccountSpec))
const { end, cacheSince } = captures(world)

const REQUESTS = isFullLength ? 10_000 : 1_000

t.test('many requests for a page that fails cost at most two captures, which are refunded', { timeout: 300_000 }, async (t) => {
  const account = await createAccount('broken')
  const link = await account.sign('url=https://broken.example/')
  endEach(t, world, ({ metadata }) =>
    fail(screenshotIdOf(metadata), { code: 'DNS_FAILED', message: 'broken.example does not resolve' }, world),
  )
  const requests = Array.from({ length: REQUESTS }, (_, index) => gateways[index % 2]!)
  const outcomes = await mapConcurrently(requests, 64, async (gateway) => outcomeOf(await take(gateway, link)))
  t.strictSame([...new Set(outcomes)], ['422 CAPTURE_FAILED'])
  const shots = await account.shots()
  t.ok(shots.length === 1 || shots.length === 2, `${shots.length} captures`)
  await eventually('each capture is refunded', async () =>
    (await account.shots()).every(({ status }) => findCondition(status?.conditions, 'Refunded')?.status === 'True'),
  )
  t.equal(await account.used(), 0)
})

t.test('a stale picture is served at once, and one capture over all gateways replaces it', async (t) => {
  const account = await createAccount('stale')
  const link = await account.sign(`${PAGE}&cache_ttl=60`)
  const pending = take(gateways[0], link)
  const shot = await account.whenCreated(1)
  await end(shot)
  await pending
  await cacheSince(shot.metadata.name, 7_200)
  const serve = () => Promise.all(gateways.flatMap((gateway) => Array.from({ length: 10 }, () => take(gateway, link))))
  const isStale = ({ headers, bytes }: Awaited<ReturnType<typeof take>>) => Number(headers.age) > 60 && bytes.equals(pictureOf(shot))
  for (const responses of [await serve(), await serve()]) t.ok(responses.every(isStale), 'while nothing has been captured')
  const fresh = await account.whenCreated(2)
  t.ok((await serve()).every(isStale), 'while the capture runs')
  await end(fresh)
  for (const gateway of gateways) {
    await eventually('the gateway has the new picture', async () => (await take(gateway, link)).bytes.equals(pictureOf(fresh)))
  }
  t.strictSame([(await account.shots()).length, await account.used()], [2, 2])
})
