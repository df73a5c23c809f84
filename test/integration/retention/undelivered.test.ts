import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { webhookIdOf } from '../../../crds/src/identifiers/ids.ts'
import { missedPrefix, OPEN_PREFIX } from '../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../support/eventually.ts'
import { answerWith, startHttpsReceiver } from '../../support/servers/https-receiver.ts'
import { call } from '../api-gateway/client.ts'
import { ACCOUNT, startStage } from './stage.ts'

// Events of records that were archived before their receiver responded. Fewer than ten posts fail, so the circuit breaker stays closed.

const directory = t.testdir()
const host = '127.0.0.2'
const receiver = await startHttpsReceiver({ directory, host, names: [`IP:${host}`] })
t.teardown(() => receiver.close())
const stage = await startStage(t)
const authority = join(directory, 'authority.crt')
await writeFile(authority, receiver.ca)
const startOperator = (retryDelays: string) =>
  stage.startOperator({
    TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    TINTYPE_WEBHOOK_EXTRA_CA_FILE: authority,
    TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS: retryDelays,
  })

/** Ids of the events that the receiver accepted. */
const accepted: string[] = []
const setDown = (isDown: boolean) => {
  receiver.answer = (request, response) => {
    if (!isDown) accepted.push(String(request.headers['webhook-id']))
    return answerWith(isDown ? 503 : 200)(request, response)
  }
}
let id = ''
const isArchived = async () => (await stage.liveIds()).length === 0

t.test('events of archived records arrive, although their receiver was down and the operator was killed', async (t) => {
  setDown(true)
  // Long enough for the operator to archive everything before the last attempt.
  const delays = '10000,60000'
  const first = await startOperator(delays)
  id = webhookIdOf((await stage.subscribe(ACCOUNT, receiver.url)).metadata)
  const ids = await stage.addRecords(3, () => ({ hasFile: false }))
  await eventually('all are archived while the receiver is down', isArchived)
  await first.end('SIGKILL')
  const open = await stage.keysUnder(OPEN_PREFIX)
  t.equal(open.length, ids.length)
  setDown(false)
  const second = await startOperator(delays)
  await eventually('all events have arrived', async () => new Set(accepted).size === ids.length)
  await eventually('no delivery is open', async () => (await stage.keysUnder(OPEN_PREFIX)).length === 0)
  t.equal(accepted.length, ids.length, 'each once')
  t.equal(await second.end('SIGTERM'), 0)
})

t.test('one call delivers the events that were missed, each once', async (t) => {
  setDown(true)
  accepted.length = 0
  await startOperator('300,300')
  await stage.addRecords(2, () => ({ hasFile: false }))
  await eventually('both are missed', async () => (await stage.keysUnder(missedPrefix(ACCOUNT, id))).length === 2)
  t.match((await stage.get(`/webhooks/${id}`)).body.data.statistics, { missed_deliveries: 2, pending_deliveries: 0 })
  setDown(false)
  const response = await call(`${stage.gateway.url}/v1/webhooks/${id}/redeliver-missed`, { method: 'POST', key: stage.key })
  t.match({ status: response.status, data: response.body.data }, { status: 202, data: { missed_deliveries: 2 } })
  await eventually('both have arrived', async () => accepted.length >= 2)
  await eventually('nothing is left', async () => (await stage.keysUnder('undelivered/')).length === 0)
  t.equal(accepted.length, 2)
})
