import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { leases } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { type NewObject, Resource } from '../../../crds/client/resource.ts'
import type { Account, AccountSpec } from '../../../crds/src/kinds/account.ts'
import { DEFAULT_PLANS, type Plans } from '../../../crds/src/usage/plans.ts'
import { createQuotaController } from '../../../operator/src/controllers/quota/controller.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { eventually } from '../../support/eventually.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { call } from '../api-gateway/client.ts'
import { type Gateway, startWorld } from '../api-gateway/world.ts'
import { leadWith } from '../operator/lead.ts'

// Setup of the tests of quota and rate limits: a real API server and store, gateways as processes, and the quota part of the operator.

export type Stage = Awaited<ReturnType<typeof startStage>>

/** Starts API server and store; they stop at the end of the test file. @param plans changes of the default plans */
export async function startStage(t: Test, plans: Plans) {
  const world = await startWorld()
  t.teardown(world.stop)
  const all: Plans = { ...DEFAULT_PLANS, ...plans }
  const http = new KubeHttp(await accessPlane(world.plane.kubeconfigPath))
  t.teardown(() => http.close())
  const gatewayLeases = new Resource(http, leases)

  const gateways: Gateway[] = []
  const startGateway = async () => {
    const gateway = await world.startGateway({ TINTYPE_PLANS: JSON.stringify(all), TINTYPE_LOG_LEVEL: 'warn', TINTYPE_POD_UID: 'pod-uid' })
    gateways.push(gateway)
    return gateway
  }
  const knows = async ({ url }: Gateway, key: string) => (await call(`${url}/v1/usage/current`, { key })).status === 200
  /** Creates an account as `kubectl apply` does. Resolves when its usage exists and every gateway knows it. */
  const createAccount = async (name: string, spec: AccountSpec): Promise<string> => {
    await world.accounts.create({ metadata: { name }, spec } as NewObject<Account>)
    await eventually(`the usage of ${name} exists`, async () => (await world.usages.find(name))?.status?.period !== undefined)
    const key = await world.createKey({ accountName: name })
    const running = gateways.filter(({ process: { exitCode, signalCode } }) => exitCode === null && signalCode === null)
    for (const gateway of running) await eventually(`a gateway knows ${name}`, () => knows(gateway, key))
    return key
  }
  const { endpoint, accessKey, secretKey } = world.store
  const storage = openStorage({ endpoint, accessKey, secretKey, region: 'us-east-1', bucket: 'tintype' })
  const { stop } = await leadWith(t, { http, storage, creates: [createQuotaController], deps: { config: { plans: all } } })
  return { world, http, gatewayLeases, startGateway, createAccount, stopOperator: stop }
}

/** One create request in the account of the key. */
export const create = (gateway: Gateway, key: string, headers: Record<string, string> = {}) =>
  call(`${gateway.url}/v1/screenshots`, { method: 'POST', key, headers, body: { url: 'https://example.com/' } })

/** A change of objects or usage, in the order of the store behind the API server. */
export interface Change {
  version: number
  objects?: 1 | -1
  used?: number
}

/** Watches the objects and the usage of an account from now on. */
export async function watchAccount(t: Test, { world, http }: Pick<Stage, 'world' | 'http'>, account: string) {
  const changes: Change[] = []
  const shots = new Reflector({ http, resource: world.screenshots.definition })
  const usages = new Reflector({ http, resource: world.usages.definition })
  shots.addListener(({ type, object }) => {
    if (type !== 'modified' && object.spec.accountName === account)
      changes.push({ version: Number(object.metadata.resourceVersion), objects: type === 'added' ? 1 : -1 })
  })
  usages.addListener(({ object }) => {
    if (object.metadata.name === account) changes.push({ version: Number(object.metadata.resourceVersion), used: object.status?.used ?? 0 })
  })
  for (const reflector of [shots, usages]) reflector.start()
  t.teardown(() => Promise.all([shots.stop(), usages.stop()]))
  await Promise.all([shots.whenSynced(), usages.whenSynced()])
  return {
    /** Every state so far: the existing objects and the usage at each version. */
    history: async () => {
      await sleep(500)
      let objects = 0
      let used = 0
      return changes
        .sort((a, b) => a.version - b.version)
        .map((change) => {
          objects += change.objects ?? 0
          used = change.used ?? used
          return { objects, used }
        })
    },
  }
}
