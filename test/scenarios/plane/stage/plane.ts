/**
 * The stage of scenarios without browsers: etcd that waits for the disk, an API server with the chart's objects, roles and admission policies, MinIO,
 * operators and gateways as in their images, all real. A fleet of simulated runners (fleet-program.ts) speaks the real protocol.
 */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'minio'
import { accessFromKubeconfig } from '../../../../crds/client/cluster-access.ts'
import { accounts, apiKeys, runnerPools, screenshots, secrets } from '../../../../crds/client/kinds.ts'
import { mergePatch, type NewObject, Resource } from '../../../../crds/client/resource.ts'
import { keyHash, newKeyText } from '../../../../crds/src/crypto/api-keys.ts'
import { Label } from '../../../../crds/src/identifiers/names.ts'
import type { Account } from '../../../../crds/src/kinds/account.ts'
import type { ApiKey } from '../../../../crds/src/kinds/api-key.ts'
import type { RunnerPoolSpec } from '../../../../crds/src/kinds/runner-pool.ts'
import { DEFAULT_PLANS } from '../../../../crds/src/usage/plans.ts'
import { findFreePorts } from '../../../cluster/host/ports.ts'
import { startMinio } from '../../../cluster/programs/minio.ts'
import { installRelease, NAMESPACE } from '../../../integration/admission/release.ts'
import { readPolicies } from '../../../integration/operator/stage.ts'
import { createDirectory } from '../../../support/directory.ts'
import { eventually } from '../../../support/eventually.ts'
import { writeServiceAccount } from '../../../support/processes/as-in-pod.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import type { Report, Stage } from '../../harness/scenario.ts'
import { withEnds } from '../../harness/undo.ts'
import { createOperatorPod, type Program, simulateKubelet, startFleet, startProgram } from './program.ts'
import { textOf } from './programs.ts'

/** An operator pod with its process. */
export interface OperatorPod extends Program {
  name: string
  isLeader: () => Promise<boolean>
  /** Stops status updates of the pod, as if its node was lost. */
  loseNode: () => void
}

/** A running gateway. */
export interface GatewayPod extends Program {
  url: string
}

/** Options to start a program. */
export interface StartOptions {
  /** Offset of its clock in seconds; negative: behind. */
  clockSeconds?: number
  environment?: Record<string, string>
  flags?: readonly string[]
  /** Main file of another version's bundle. */
  main?: string | undefined
  /** Ports of the links to the API server and the store. Default: direct. */
  apiServerPort?: number
  storePort?: number
}

/** The environment that this file starts. */
export type Plane = Awaited<ReturnType<typeof openPlane>>

/** These limits are never reached, because the tests do not measure the quota. */
const PLANS = { ...DEFAULT_PLANS, scale: { ...DEFAULT_PLANS.scale, monthlyQuota: 1_000_000_000, ratePerMinute: 1_000_000 } }

/** Path of the library in Debian's package libfaketime. */
const FAKETIME = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`

const LONG_MILLISECONDS = 600_000

/** `fsync`: etcd waits for the disk. */
export interface PlaneOptions {
  fsync?: boolean
  /** Default: in the directory of the plane. */
  storeDirectory?: (ends: Ends, progress: Report['progress']) => Promise<string>
}

/** The stage of a scenario. */
export const plane = (options: PlaneOptions = {}): Stage<Plane> => ({
  name: 'plane',
  open: (ends, progress) => openPlane(ends, options, progress),
  about: () => (options.fsync === false ? 'etcd does not wait for the disk' : 'etcd waits for the disk'),
})

/** Starts everything, calls `act`, and stops everything. */
export const withPlane = <T>(act: (plane: Plane) => Promise<T>, options: PlaneOptions = {}): Promise<T> =>
  withEnds(async (ends) => act(await openPlane(ends, options)))

async function openPlane(ends: Ends, { fsync = true, ...options }: PlaneOptions, progress: Report['progress'] = () => {}) {
  const directory = await createDirectory(ends, 'plane')
  const storeDirectory = (await options.storeDirectory?.(ends, progress)) ?? path.join(directory, 'store')
  const minio = await startMinio({ directory: storeDirectory })
  ends.teardown(() => minio.stop())
  const release = await installRelease(ends, { fsync })
  const { admin, plane: controlPlane, kubeconfigPath } = release
  const ca = String((await (await accessFromKubeconfig(kubeconfigPath)).credentials()).tls.ca)
  for (const name of ['operator', 'api-gateway'])
    await writeServiceAccount(admin, { name: `tintype-${name}`, directory: path.join(directory, `account-${name}`), ca })
  const network = `127.${2 + (process.pid % 250)}`
  const fleet = await startFleet(kubeconfigPath, NAMESPACE, network)
  ends.teardown(() => fleet.close())

  const apiServer = new URL(controlPlane.url)
  const policies = await readPolicies(kubeconfigPath)
  const environmentFor = ({
    apiServerPort = Number(apiServer.port),
    storePort = minio.port,
    clockSeconds = 0,
    environment = {},
  }: StartOptions): Record<string, string> => ({
    KUBERNETES_SERVICE_HOST: apiServer.hostname,
    KUBERNETES_SERVICE_PORT: String(apiServerPort),
    TINTYPE_NAMESPACE: NAMESPACE,
    TINTYPE_STORAGE_ENDPOINT: `http://127.0.0.1:${storePort}`,
    TINTYPE_STORAGE_ACCESS_KEY: minio.accessKey,
    TINTYPE_STORAGE_SECRET_KEY: minio.secretKey,
    TINTYPE_PLANS: JSON.stringify(PLANS),
    ...(clockSeconds === 0
      ? {}
      : { LD_PRELOAD: FAKETIME, FAKETIME: `${clockSeconds > 0 ? '+' : ''}${clockSeconds}`, FAKETIME_DONT_FAKE_MONOTONIC: '1' }),
    ...environment,
  })
  const keep = (program: Program) => {
    ends.teardown(() => program.end('SIGKILL'))
    return program
  }

  let count = 0
  /** Starts an operator and waits until its caches are synced. */
  const startOperator = async (options: StartOptions = {}): Promise<OperatorPod> => {
    const name = `tintype-operator-${count++}`
    const pod = await createOperatorPod(admin, name)
    const environment = {
      TINTYPE_POD_NAME: name,
      TINTYPE_POD_UID: pod.metadata.uid ?? '',
      ...policies,
      TINTYPE_BOOTSTRAP_PLAN: 'scale',
      ...environmentFor(options),
    }
    const program = keep(await startProgram({ name: 'operator', directory, environment, flags: options.flags ?? [], main: options.main }))
    let isLost = false
    await simulateKubelet(admin, pod, program, () => isLost)
    await whenReady(program)
    const isLeader = async () => /leader_election_master_status\{[^}]*\} 1/.test(await textOf(`${program.metricsUrl}/metrics`))
    const loseNode = () => {
      isLost = true
    }
    return { ...program, name, isLeader, loseNode }
  }

  const secretStore = new Resource(admin, secrets)
  const mountKey = async (secret: string, key: string) => {
    const { data = {} } = await eventually(`there is ${secret}`, () => secretStore.find(secret))
    const file = path.join(directory, key)
    await writeFile(file, Buffer.from(data[key] ?? '', 'base64'))
    return file
  }
  const startGateway = async (options: StartOptions = {}): Promise<GatewayPod> => {
    const [port = 0] = await findFreePorts(1)
    const environment = {
      TINTYPE_PORT: String(port),
      TINTYPE_POD_NAME: `tintype-api-gateway-${count++}`,
      TINTYPE_DOWNLOAD_KEYS_FILE: await mountKey('tintype-download-keys', 'keys.json'),
      TINTYPE_SEALING_KEY_FILE: await mountKey('tintype-sealing-key', 'public.json'),
      TINTYPE_LINK_KEY_FILE: await mountKey('tintype-link-key', 'key.json'),
      TINTYPE_DRAIN_DELAY_MILLISECONDS: '100',
      ...environmentFor(options),
    }
    const program = keep(
      await startProgram({ name: 'api-gateway', directory, environment, flags: options.flags ?? [], main: options.main }),
    )
    await whenReady(program)
    return { ...program, url: `http://127.0.0.1:${port}` }
  }

  const accountClient = new Resource(admin, accounts)
  // The admission policy lets only operator and gateway set the hash of a key.
  const keyClient = new Resource(await release.asAccount('tintype-operator'), apiKeys)
  /** Creates an account, and returns an API key. No scenario reaches the limits of the default plan. */
  const createAccount = async (name: string, plan: Account['spec']['plan'] = 'scale'): Promise<string> => {
    const text = newKeyText()
    const metadata = { name: `key-${name}`, labels: { [Label.keyHash1]: keyHash(text) } }
    await accountClient.create({ metadata: { name }, spec: { plan } } as NewObject<Account>)
    await keyClient.create({
      metadata,
      spec: { accountName: name, name, scopes: ['*', 'admin:read'], lastFour: text.slice(-4) },
    } as NewObject<ApiKey>)
    return text
  }

  const pools = new Resource(admin, runnerPools)
  const setPool = async (spec: Partial<RunnerPoolSpec>): Promise<void> => {
    await pools.patch('default', mergePatch({ spec: { sandbox: { mode: 'auto' }, ...spec } }))
  }
  const whenIdle = async (wanted: number): Promise<void> => {
    const areIdle = async () => ((await pools.get('default')).status?.idle ?? 0) >= wanted
    await eventually(`${wanted} runners are idle`, areIdle, LONG_MILLISECONDS)
  }
  const { port, accessKey, secretKey } = minio
  /** As the store's root user. */
  const bucket = new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey, region: 'us-east-1', pathStyle: true })
  const stores = { minio, bucket, storeDirectory, screenshots: new Resource(admin, screenshots) }
  return { directory, release, admin, fleet, ...stores, startOperator, startGateway, createAccount, setPool, whenIdle, ends }
}

async function whenReady(program: Program): Promise<void> {
  await eventually('the program is ready', async () => {
    if (program.process.exitCode !== null) return true
    return (await fetch(`${program.metricsUrl}/readyz`)).ok
  }).catch((cause: unknown) => {
    throw new Error(`the program did not start: ${program.output().slice(-2_000)}`, { cause })
  })
  if (program.process.exitCode !== null) throw new Error(`it ended: ${program.output().slice(-2_000)}`)
}
