import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { objectKey } from '../../../../crds/src/records/storage-keys.ts'
import { failedStatus } from '../../../support/fakes/builders.ts'
import { call } from '../../api-gateway/client.ts'
import { ACCOUNT, startStage } from '../../retention/stage.ts'

// Requests with compare_to at a gateway with a real API server and a real store. A refused request charges nothing.

const stage = await startStage(t)
const { world } = stage
const url = 'https://example.com/'

const post = (options: Record<string, unknown>, key?: string) =>
  call(`${stage.gateway.url}/v1/screenshots`, {
    ...{ method: 'POST', key: stage.key, body: { url, options } },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })
const used = async (): Promise<number> => (await world.usages.find(ACCOUNT))?.status?.used ?? 0

t.test('a request with compare_to is accepted if the account has that picture', async (t) => {
  const id = await stage.addRecord()
  const { status, body } = await post({ compare_to: id, compare_ignore: ['#clock', { x: 0, y: 0, width: 9, height: 9 }] })
  t.equal(status, 202, JSON.stringify(body))
  const { spec } = await world.screenshots.get(body.id.replace('_', '-'))
  t.match(spec.options, { compareTo: id, compareIgnore: [{ selector: '#clock' }, { x: 0, y: 0, width: 9, height: 9 }] })
})

t.test('a request with compare_to of a screenshot without a picture is refused, and charges nothing', async (t) => {
  const unknown = 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd'
  const foreign = await stage.addRecord({ account: 'other' })
  const failed = await stage.addRecord({ status: failedStatus(), hasFile: false })
  const expired = await stage.addRecord({ hasFile: false })
  const pdf = await stage.addRecord({ spec: { options: { format: 'pdf' } } })
  const deleted = await stage.addRecord()
  t.equal((await stage.remove(deleted)).status, 204)
  const pending = (await post({})).body.id
  const before = await used()
  for (const [id, status, code] of [
    [unknown, 404, 'NOT_FOUND'],
    [foreign, 404, 'NOT_FOUND'],
    [deleted, 404, 'NOT_FOUND'],
    [pending, 409, 'NOT_READY'],
    [expired, 410, 'EXPIRED'],
    [failed, 422, 'NOT_COMPARABLE'],
    [pdf, 422, 'NOT_COMPARABLE'],
  ]) {
    const response = await post({ compare_to: id })
    t.match(response, { status, body: { success: false, error: { code, message: new RegExp(`^compare_to: .*${id}`) } } }, `${code} ${id}`)
  }
  t.equal(await used(), before)
})

t.test('a refused request does not keep its Idempotency-Key', async (t) => {
  const key = randomUUID()
  const id = await stage.addRecord({ hasFile: false })
  t.equal((await post({ compare_to: id }, key)).status, 410)
  await world.bucket.putObject('tintype', objectKey(ACCOUNT, id, 'png'), Buffer.from('a picture'))
  const accepted = await post({ compare_to: id }, key)
  t.equal(accepted.status, 202)
  t.equal((await stage.remove(id)).status, 204)
  const repeated = await post({ compare_to: id }, key)
  t.match(repeated, { status: 202, body: { id: accepted.body.id } }, 'a repetition does not check again')
})

t.test('the API server refuses what the gateway refuses', async (t) => {
  const to = 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd'
  const cases: [options: CaptureOptions, field: RegExp][] = [
    [{ compareThreshold: 1.5 }, /compareThreshold/],
    [{ compareThreshold: -0.1 }, /compareThreshold/],
    [{ compareColorTolerance: 2 }, /compareColorTolerance/],
    [{ compareTo: 'scr_1' }, /compareTo/],
    [{ compareTo: to, format: 'pdf' }, /compareTo needs a picture/],
    [{ compareIgnore: [{}] }, /compareIgnore/],
    [{ compareIgnore: [{ x: 0, y: 0, width: 1 }] }, /compareIgnore/],
    [{ compareIgnore: [{ selector: 'p', x: 0, y: 0, width: 1, height: 1 }] }, /compareIgnore/],
    [{ compareIgnore: Array(21).fill({ selector: 'p' }) }, /compareIgnore/],
  ]
  const create = (options: CaptureOptions) =>
    world.screenshots.create({
      metadata: { name: `shot-${randomUUID()}` },
      spec: { url, accountName: ACCOUNT, options },
    } as unknown as Screenshot)
  for (const [options, message] of cases) await t.rejects(create(options), { status: 422, message }, JSON.stringify(options))
  await t.resolves(create({ compareTo: to, compareThreshold: 1, compareIgnore: [{ selector: 'p' }, { x: 0, y: 0, width: 1, height: 1 }] }))
})
