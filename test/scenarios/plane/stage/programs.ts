import type { Plan } from '../../../../crds/src/kinds/account.ts'
import { sumOf } from '../../../support/cluster/metrics.ts'
import { eventually } from '../../../support/eventually.ts'
import { daemonOf, type Processes } from '../../harness/processes.ts'
import type { GatewayPod, OperatorPod, Plane, StartOptions } from './plane.ts'
import { bodyOf, send } from './requests.ts'

// What scenarios do with the programs of a plane: accounts and idle runners, and what the programs use and count.

const ACCOUNTS = ['soak-a', 'soak-b', 'soak-c', 'soak-d']

/** Starts a gateway, and waits for valid keys of some accounts and the given number of idle runners. Needs a running operator. */
export async function prepareAccountsAndRunners(
  plane: Plane,
  { runners, captureMilliseconds = 200, gateway: options = {} }: { runners: number; captureMilliseconds?: number; gateway?: StartOptions },
) {
  const gateway = await plane.startGateway(options)
  const keys = await Promise.all(ACCOUNTS.map((name) => plane.createAccount(name)))
  await plane.fleet.ask({ captureMilliseconds })
  await plane.setPool({ minIdle: runners, maxPods: runners + 10 })
  await plane.whenIdle(runners)
  await whenValid(gateway, keys)
  return { gateway, keys, accounts: ACCOUNTS }
}

/** Nothing captures, so created objects stay queued. */
const LONG_QUEUE = { TINTYPE_MAX_QUEUED: '1000000', TINTYPE_MAX_QUEUED_PER_ACCOUNT: '1000000' }

/** Starts a gateway with accounts by plan, for scenarios without captures: an operator has created keys and counts, and has ended. */
export async function prepareGateway(
  plane: Plane,
  accounts: Readonly<Record<string, Plan>>,
  { environment, flags = [] }: Pick<StartOptions, 'environment' | 'flags'> = {},
) {
  const options = { environment: { ...LONG_QUEUE, ...environment }, flags }
  const operator = await plane.startOperator(options)
  const keys = await Promise.all(Object.entries(accounts).map(([name, plan]) => plane.createAccount(name, plan)))
  const gateway = await plane.startGateway(options)
  for (const key of keys) await whenKnown(gateway, key)
  await operator.end('SIGTERM')
  return { gateway, keys }
}

/** Waits until a gateway knows the account of a key, and its counts. */
const whenKnown = ({ url }: GatewayPod, key: string): Promise<boolean> =>
  eventually('the gateway knows the account', async () => (await send(`${url}/v1/usage/current`, { key })).status === 200)

/** Waits until a gateway accepts captures of these keys. */
async function whenValid({ url }: GatewayPod, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const capture = async () =>
      bodyOf(await send(`${url}/v1/screenshots`, { method: 'POST', key, body: { url: 'https://example.com/' } }), 202)
    await eventually('the gateway accepts the key', async () => Boolean(await capture()))
  }
}

/** The programs of a plane. This process represents the clients. */
export function processesOf(
  { release, fleet, storeDirectory }: Plane,
  operators: readonly OperatorPod[],
  gateways: readonly GatewayPod[],
): Processes {
  return {
    operator: operators.map(({ pid }) => pid),
    gateway: gateways.map(({ pid }) => pid),
    'API server': [daemonOf(release.plane.directory, 'kube-apiserver')],
    etcd: [daemonOf(release.plane.directory, 'etcd')],
    MinIO: [daemonOf(storeDirectory, 'minio')],
    runners: [fleet.pid],
    clients: [process.pid],
  }
}

/** The response body of a URL; empty without a response. */
export const textOf = (url: string): Promise<string> =>
  fetch(url, { signal: AbortSignal.timeout(5_000) })
    .then((answer) => answer.text())
    .catch(() => '')

/** Sum of a metric's samples that have these labels. */
export const readMetric = async (
  { metricsUrl }: { metricsUrl: string },
  name: string,
  labels?: Readonly<Record<string, string>>,
): Promise<number> => sumOf(await textOf(`${metricsUrl}/metrics`), name, labels)

/** Waits until no capture is queued or running. */
export function whenAllFinished(operator: OperatorPod, milliseconds = 300_000): Promise<boolean> {
  const count = (phase: string) => readMetric(operator, 'screenshot_jobs', { phase })
  return eventually('all Screenshots have finished', async () => (await count('Pending')) + (await count('Running')) === 0, milliseconds)
}

/** Screenshots whose capture has ended since the operator's start. */
export const countFinished = (operator: OperatorPod): Promise<number> => readMetric(operator, 'screenshot_job_duration_seconds_count')

/** Reads a number of etcd's metrics in MiB. */
export async function readEtcd({ release }: Plane, name: string): Promise<number> {
  const text = await textOf(`${release.plane.etcdUrl}/metrics`)
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]) / 2 ** 20
}

/** Node flags that write a processor profile at exit. */
export const profileFlags = (directory: string | undefined): string[] =>
  directory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${directory}`]

/** The current leader. */
export const findLeader = (operators: readonly OperatorPod[]): Promise<OperatorPod> =>
  eventually('an operator leads', async () => {
    const leading = await Promise.all(operators.map((operator) => operator.isLeader()))
    return leading.filter(Boolean).length === 1 && operators[leading.indexOf(true)]
  })
