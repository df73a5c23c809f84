// Setup of tests with an operator: a real API server and store, a gateway and an operator as processes, and a real HTTPS endpoint for webhooks. The
// tests complete captures in the role of the runner.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Test } from 'tap'
import { secrets, webhooks } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { toSealingKey } from '../../../crds/src/crypto/sealed.ts'
import { secretNames, toObjectName } from '../../../crds/src/identifiers/names.ts'
import { createDirectory } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { answerWith, startHttpsReceiver } from '../../support/servers/https-receiver.ts'
import { shortLease, startProgram } from '../operator/program.ts'
import { call, callPatiently } from './client.ts'
import { startWorld, type World } from './world.ts'

const RELEASE = 'tintype'
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** Stores the sealing key of the gateways in the Secret that the operator reads. */
async function putSealingKey(http: KubeHttp, { openingKeys }: World): Promise<void> {
  const sealing = { 'private.json': base64(openingKeys), 'public.json': base64(toSealingKey(openingKeys[0]!)) }
  await new Resource(http, secrets).create({ metadata: { name: secretNames(RELEASE).sealingKey }, data: sealing })
}

export async function startStage(t: Test) {
  const world = await startWorld()
  const http = new KubeHttp(await accessPlane(world.plane.kubeconfigPath))
  t.teardown(async () => {
    await http.close()
    await world.stop()
  })
  const directory = await createDirectory(t, 'deliveries')
  const receiver = await startHttpsReceiver({ directory, host: '127.0.0.2', names: ['IP:127.0.0.2'] })
  t.teardown(receiver.close)
  const ca = join(directory, 'receivers.pem')
  await writeFile(ca, receiver.ca)
  await putSealingKey(http, world)
  for (const name of ['acme', 'other']) await world.createAccount(name)
  const key = await world.createKey({ accountName: 'acme' })
  const foreign = await world.createKey({ accountName: 'other' })
  const gateway = await world.startGateway({ TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' })
  const hooks = new Resource(http, webhooks)
  let operators = 0

  const startOperator = async (env: Record<string, string> = {}) => {
    const program = await startProgram(
      t,
      {
        TINTYPE_NAMESPACE: world.plane.namespace,
        TINTYPE_POD_NAME: `operator-${++operators}`,
        TINTYPE_POD_UID: `uid-of-operator-${operators}`,
        TINTYPE_BOOTSTRAP_ENABLED: 'false',
        ...world.operatorStorage,
        ...shortLease,
        TINTYPE_WEBHOOK_TIMEOUT_MILLISECONDS: '5000',
        TINTYPE_WEBHOOK_FLUSH_MILLISECONDS: '500',
        TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS: '300,600',
        TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
        TINTYPE_WEBHOOK_EXTRA_CA_FILE: ca,
        ...env,
      },
      world.operatorAccount,
    )
    await eventually('the operator leads', program.isLeader)
    return program
  }

  const rest = (method: string, path: string, { as = key, body }: { as?: string; body?: unknown } = {}) =>
    call(`${gateway.url}/v1${path}`, { method, key: as, ...(body === undefined ? {} : { body }) })

  /** Creates an endpoint over REST. Resolves when the operator sends events to it. */
  async function subscribe(body: object = {}): Promise<{ id: string; signing_secret: string }> {
    const hook = { name: 'orders', url: receiver.url, events: ['screenshot.completed'], ...body }
    const { data } = (await rest('POST', '/webhooks', { body: hook })).body
    await eventually(
      'the operator has observed the webhook',
      async () => (await hooks.get(toObjectName(data.id))).status?.conditions !== undefined,
    )
    return data
  }

  /** Creates a Screenshot over REST and completes its capture. Returns its id. */
  async function capture(): Promise<string> {
    const { body } = await callPatiently(`${gateway.url}/v1/screenshots`, { method: 'POST', key, body: { url: 'https://example.com/' } })
    const status = completedStatus({ completionTime: new Date().toISOString() })
    await world.screenshots.patch(toObjectName(body.id), mergePatch({ status }), { subresource: 'status' })
    return body.id
  }

  /** Waits until the endpoint's deliveries meet a condition, because the log is a few seconds behind. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of any shape
  const whenListed = (id: string, isRight: (data: any[]) => boolean, query = ''): Promise<any[]> =>
    eventually('the log contains the delivery', async () => {
      const { body } = await rest('GET', `/webhooks/${id}/deliveries${query}`)
      return isRight(body.data) && body.data
    })

  /** Resolves in the next second, because an operator compares its start with captures and webhooks in whole seconds (ADR 31). */
  const whenSecondIsOver = () => setTimeout(1_000 - (Date.now() % 1_000))

  t.beforeEach(() => {
    receiver.received.length = 0
    receiver.answer = answerWith(200, 'thanks')
  })
  t.afterEach(async () => {
    for (const { metadata } of await hooks.listAll()) await hooks.delete(metadata.name)
  })
  return { world, http, receiver, hooks, key, foreign, gateway, startOperator, rest, subscribe, capture, whenListed, whenSecondIsOver }
}
