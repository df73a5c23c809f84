import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'minio'
import { accountUsages, secrets, serviceAccounts } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import type { KubeObject } from '../../../crds/client/kube-object.ts'
import { defineResource, mergePatch, type NewObject, Resource, tintypeResource } from '../../../crds/client/resource.ts'
import { keyHash, newKeyText, newLinkKey } from '../../../crds/src/crypto/api-keys.ts'
import { newOpeningKey, type OpeningKeys, toSealingKey } from '../../../crds/src/crypto/sealed.ts'
import type { KeyRing } from '../../../crds/src/crypto/signatures.ts'
import { Label, secretNames } from '../../../crds/src/identifiers/names.ts'
import type { Account, AccountUsage } from '../../../crds/src/kinds/account.ts'
import type { ApiKey, ApiKeySpec } from '../../../crds/src/kinds/api-key.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { monthOf } from '../../../crds/src/usage/usage.ts'
import { findFreePorts } from '../../cluster/host/ports.ts'
import { startMinio } from '../../cluster/programs/minio.ts'
import type { StoreServer } from '../../cluster/programs/store-server.ts'
import { eventually } from '../../support/eventually.ts'
import { openPodAccount } from '../../support/processes/as-in-pod.ts'
import { compileCache } from '../../support/processes/compile-cache.ts'
import { endWithTest } from '../../support/processes/own-children.ts'
import { openTestPlane, type TestPlaneOptions } from '../../support/processes/own-plane.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { declaredRights } from '../../support/sources/declared-rights.ts'
import { parseLogLines } from '../../support/sources/log-lines.ts'
import { gatewayStorage, makeIdentities, operatorStorage } from '../store-identities.ts'

// Setup of gateway tests: a real API server and store, and gateways as processes, with exactly the rights that the chart grants.

const BUCKET = 'tintype'
const GATEWAY_ACCOUNT = 'tintype-api-gateway'
const gatewayMain = path.join(import.meta.dirname, '../../../api-gateway/src/main.ts')

const rbac = (kind: string, plural: string) =>
  defineResource<KubeObject>({ group: 'rbac.authorization.k8s.io', version: 'v1', plural, kind, namespaced: true })

/** A running gateway process. */
export type Gateway = Awaited<ReturnType<typeof spawnGateway>>

export type World = Awaited<ReturnType<typeof startWorld>>

/** The rights that the gateway's files declare. */
async function grantRights(http: KubeHttp): Promise<void> {
  const rules = declaredRights('api-gateway').map(({ group, resource, verb }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: [verb],
  }))
  const metadata = { name: GATEWAY_ACCOUNT }
  await new Resource(http, serviceAccounts).create({ metadata })
  await new Resource(http, rbac('Role', 'roles')).create({ metadata, rules } as KubeObject)
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: GATEWAY_ACCOUNT }
  const subjects = [{ kind: 'ServiceAccount', name: GATEWAY_ACCOUNT, namespace: http.namespace }]
  await new Resource(http, rbac('RoleBinding', 'rolebindings')).create({ metadata, roleRef, subjects } as KubeObject)
}

function bucketOf({ port, accessKey, secretKey }: StoreServer): Client {
  return new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey, region: 'us-east-1', pathStyle: true })
}

/** `command` starts a gateway; by default, the sources run unbundled. `store`: more variables of MinIO. */
export interface WorldOptions extends Pick<TestPlaneOptions, 'own' | 'fsync'> {
  command?: readonly string[]
  store?: Readonly<Record<string, string>>
}

/** Starts everything that a gateway needs. `stop` stops it and removes its files. */
export async function startWorld({
  own = false,
  fsync = false,
  command = [process.execPath, gatewayMain],
  store: environment = {},
}: WorldOptions = {}) {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-gateway-'))
  const [plane, store] = await Promise.all([
    openTestPlane({ own, fsync }),
    startMinio({ directory: path.join(directory, 'store'), environment }),
  ])
  const access = await accessPlane(plane.kubeconfigPath)
  const http = new KubeHttp(access)
  const bucket = bucketOf(store)
  await Promise.all([bucket.makeBucket(BUCKET), grantRights(http)])
  const identities = await makeIdentities(store, BUCKET)
  const openAccount = (name: string, grant: boolean) => openPodAccount(access, { name, directory: path.join(directory, name), grant })
  const gatewayAccount = await openAccount(GATEWAY_ACCOUNT, false)
  const operatorAccount = await openAccount('operator', true)
  const ring: KeyRing = { current: 'a', keys: { a: randomBytes(32).toString('base64') } }
  const ringFile = path.join(directory, 'keys.json')
  const writeRing = (next: KeyRing) => writeFile(ringFile, JSON.stringify(next))
  await writeRing(ring)
  // Gateway and operator of a release share these keys.
  const data = { 'keys.json': Buffer.from(JSON.stringify(ring)).toString('base64') }
  await new Resource(http, secrets).create({ metadata: { name: secretNames('tintype').downloadKeys }, type: 'Opaque', data })
  const openingKeys: OpeningKeys = [newOpeningKey('test')]
  const sealingKeyFile = path.join(directory, 'public.json')
  await writeFile(sealingKeyFile, JSON.stringify(toSealingKey(openingKeys[0]!)))
  const linkKeyFile = path.join(directory, 'key.json')
  await writeFile(linkKeyFile, JSON.stringify(newLinkKey()))
  const keys = new Resource(http, tintypeResource<ApiKey>('ApiKey', 'apikeys'))
  const accounts = new Resource(http, tintypeResource<Account>('Account', 'accounts'))
  const usages = new Resource(http, accountUsages)
  const gateways: Gateway[] = []
  /** Creates an account and its usage as the operator does. Default: no limits. */
  const createAccount = async (name: string, spec: Partial<Account['spec']> = {}, limits: AccountUsage['spec'] = { limit: 1_000_000 }) => {
    await accounts.create({ metadata: { name }, spec: { plan: 'scale', ...spec } } as NewObject<Account>)
    await usages.create({ metadata: { name }, spec: limits } as NewObject<AccountUsage>)
    await usages.patch(name, mergePatch({ status: { period: monthOf(new Date()), used: 0 } }), { subresource: 'status' })
  }
  /** Creates a key of an account as the operator does. Returns its text. */
  const createKey = async (spec: ApiKeySpec) => {
    const text = newKeyText()
    const metadata = { name: `key-${randomBytes(6).toString('hex')}`, labels: { [Label.keyHash1]: keyHash(text) } }
    await keys.create({ metadata, spec: { lastFour: text.slice(-4), ...spec } } as NewObject<ApiKey>)
    return text
  }
  const startGateway = async (env: Record<string, string> = {}) => {
    const gateway = await spawnGateway(gatewayAccount.wrap(command), {
      ...gatewayAccount.environment,
      ...environmentOf(gatewayStorage(store, identities), plane.namespace, { ringFile, sealingKeyFile, linkKeyFile }),
      ...env,
    })
    gateways.push(gateway)
    return gateway
  }
  const stop = async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    await http.close()
    await Promise.all([plane.stop(), store.stop()])
    await rm(directory, { recursive: true, force: true })
  }
  const screenshots = new Resource(http, tintypeResource<Screenshot>('Screenshot', 'screenshots'))
  return {
    plane,
    store,
    screenshots,
    keys,
    accounts,
    usages,
    /** As the store's root user. */
    bucket,
    /** For operators as processes. It has all rights. */
    operatorAccount,
    /** Access to the store with the operator's rights. */
    operatorStorage: operatorStorage(store, identities),
    ring,
    /** Decrypts what the gateways have sealed. */
    openingKeys,
    writeRing,
    createKey,
    createAccount,
    startGateway,
    stop,
  }
}

const environmentOf = (
  storage: Record<string, string>,
  namespace: string,
  { ringFile, sealingKeyFile, linkKeyFile }: { ringFile: string; sealingKeyFile: string; linkKeyFile: string },
): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  ...compileCache,
  TINTYPE_NAMESPACE: namespace,
  ...storage,
  TINTYPE_DOWNLOAD_KEYS_FILE: ringFile,
  TINTYPE_SEALING_KEY_FILE: sealingKeyFile,
  TINTYPE_LINK_KEY_FILE: linkKeyFile,
  TINTYPE_DRAIN_DELAY_MILLISECONDS: '100',
  TINTYPE_SHUTDOWN_GRACE_MILLISECONDS: '5000',
})

async function spawnGateway([program = '', ...args]: readonly string[], env: Record<string, string>) {
  const [port, metricsPort] = await findFreePorts(2)
  const ports = { TINTYPE_PORT: String(port), TINTYPE_METRICS_PORT: String(metricsPort) }
  const child = spawn(program, args, { env: { ...env, ...ports }, stdio: ['ignore', 'pipe', 'pipe'] })
  endWithTest(child)
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => output.push(chunk))
  const log = () => Buffer.concat(output).toString()
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const metricsUrl = `http://127.0.0.1:${metricsPort}`
  const url = `http://127.0.0.1:${port}`
  const isReady = async () => {
    if (child.exitCode !== null) return true
    return (await fetch(`${metricsUrl}/readyz`)).ok && (await fetch(`${url}/v1/status`)).ok
  }
  await eventually('the gateway is ready', isReady).catch((cause: unknown) => {
    child.kill('SIGKILL')
    throw new Error(`the gateway did not start: ${log()}`, { cause })
  })
  if (child.exitCode !== null) throw new Error(`the gateway ended: ${log()}`)
  /** Stops it as Kubernetes does. Returns the exit code. */
  const stop = async () => {
    child.kill('SIGTERM')
    const code = await ended
    parseLogLines(log())
    return code
  }
  return { url, metricsUrl, process: child, log, stop }
}
