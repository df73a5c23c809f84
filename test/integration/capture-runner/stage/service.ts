import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { KubeHttp } from '../../../../crds/client/kube-http.ts'
import { mergePatch, Resource, tintypeResource } from '../../../../crds/client/resource.ts'
import type { CaptureOrder } from '../../../../crds/src/dispatch/dispatch.ts'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { artifactsOf } from '../../../../crds/src/options/artifacts.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { objectKey } from '../../../../crds/src/records/storage-keys.ts'
import { createSigner, RunnerClient, type Signer, toEncryptionKey } from '../../../../operator/src/runner/runner-client.ts'
import { DispatchKey } from '../../../../operator/src/secrets/release-keys.ts'
import { findFreePorts } from '../../../cluster/host/ports.ts'
import { eventually } from '../../../support/eventually.ts'
import { endWithTest } from '../../../support/processes/own-children.ts'
import { openTestPlane, type TestPlaneOptions } from '../../../support/processes/own-plane.ts'
import { accessPlane } from '../../../support/processes/plane-access.ts'
import { parseLogLines } from '../../../support/sources/log-lines.ts'
import { openBucket } from './bucket.ts'
import { CHROMIUM } from './studio.ts'

// A runner as a separate process like in a pod, with a real API server, a real storage, and the operator's client.

const MAIN = join(import.meta.dirname, '../../../../capture-runner/src/main.ts')
const JAIL = join(import.meta.dirname, '../../../../capture-runner/jail')
const POD_UID = '6b1f7f0e-0000-4000-8000-00000000000a'

interface ClaimOptions {
  options?: CaptureOptions
  attempt?: number
  milliseconds?: number
}

/** Starts the services that a runner needs, which end with the test file. */
export async function openService(t: Test, options: Pick<TestPlaneOptions, 'own'> = {}) {
  const [plane, bucket] = await Promise.all([openTestPlane(options), openBucket(t)])
  t.teardown(plane.stop)
  const { namespace } = plane
  const http = new KubeHttp(await accessPlane(plane.kubeconfigPath))
  t.teardown(() => http.close())
  const tokenFile = await makeToken(http, plane.directory)
  const caFile = join(plane.directory, 'pki', 'ca.crt')
  const privateKey = DispatchKey.parse(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
  const sign = await createSigner(privateKey)
  const address = { uid: POD_UID, ip: '127.0.0.1' }
  const screenshots = new Resource(http, tintypeResource<Screenshot>('Screenshot', 'screenshots'), { namespace })
  const { d: _, ...publicKey } = privateKey
  const fixed = {
    PATH: process.env.PATH ?? '',
    HOME: plane.directory,
    TINTYPE_POD_NAME: 'default-1',
    TINTYPE_POD_UID: POD_UID,
    TINTYPE_NAMESPACE: namespace,
    TINTYPE_LOG_LEVEL: 'debug',
    TINTYPE_DISPATCH_PUBLIC_KEY: JSON.stringify(publicKey),
    TINTYPE_DISPATCH_TOKEN_FILE: tokenFile,
    TINTYPE_KUBERNETES_TOKEN_FILE: tokenFile,
    TINTYPE_KUBERNETES_CA_FILE: caFile,
    TINTYPE_JAIL_DIRECTORY: JAIL,
    TINTYPE_CHROMIUM: CHROMIUM,
    TINTYPE_EGRESS: JSON.stringify({ allowedCidrs: ['127.0.0.0/8'] }),
    // Tests may run as root, where Chromium's sandbox does not work. The sandbox has its own tests.
    TINTYPE_SANDBOX_MODE: 'off',
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: new URL(plane.url).port,
  }
  const keyOf = ({ name, accountName, options }: CaptureOrder) => objectKey(accountName, name.replace('-', '_'), options?.format ?? 'png')
  return {
    plane,
    bucket,
    screenshots,
    sign,
    address,
    keyOf,
    startRunner: async (env: Record<string, string> = {}) => {
      const runner = await spawnRunner({ ...fixed, ...env }, sign, address)
      t.teardown(() => runner.child.kill('SIGKILL'))
      return runner
    },
    /** Creates a Screenshot, claims it for the runner, and returns its order. */
    claim: async (url: string, { options, attempt = 1, milliseconds = 60_000 }: ClaimOptions = {}): Promise<CaptureOrder> => {
      const name = toObjectName(newId('scr', new Date()))
      const spec = { url, ...(options ? { options } : {}) }
      const created = await screenshots.create({ metadata: { name }, spec } as unknown as Screenshot)
      await screenshots.patch(name, mergePatch({ status: claimedStatus(attempt) }), { subresource: 'status' })
      const order = { uid: created.metadata.uid ?? '', name, namespace, accountName: 'default', attempt, ...spec }
      const upload = bucket.uploadOf(keyOf(order as CaptureOrder))
      const artifacts = artifactsOf(options).map(({ type, extension }) => ({
        type,
        upload: bucket.uploadOf(objectKey('default', name.replace('-', '_'), extension)),
      }))
      return { ...order, upload, artifacts, deadline: Date.now() + milliseconds }
    },
    /** The Screenshot once it is finished. */
    finished: ({ name }: CaptureOrder) =>
      eventually(`${name} is finished`, async () => {
        const screenshot = await screenshots.get(name)
        return screenshot.status?.completionTime !== undefined && screenshot
      }),
  }
}

const claimedStatus = (attempt: number) => ({
  phase: 'Running',
  runner: { pod: 'default-1', uid: POD_UID },
  attempt,
  startTime: new Date().toISOString(),
  conditions: [
    { type: 'Succeeded', status: 'Unknown', reason: 'Capturing', message: 'on default-1', lastTransitionTime: new Date().toISOString() },
  ],
})

/** A service account with the single permission of runners, and a file with its token. */
async function makeToken(http: KubeHttp, directory: string): Promise<string> {
  const post = (path: string, body: object) => http.request<{ status: { token: string } }>({ method: 'POST', path, body })
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${http.namespace}`
  const metadata = { name: 'runner' }
  await post(`/api/v1/namespaces/${http.namespace}/serviceaccounts`, { metadata })
  await post(`${rbac}/roles`, { metadata, rules: [{ apiGroups: ['tintype.dev'], resources: ['screenshots/status'], verbs: ['patch'] }] })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'runner' }
  await post(`${rbac}/rolebindings`, {
    metadata,
    roleRef,
    subjects: [{ kind: 'ServiceAccount', name: 'runner', namespace: http.namespace }],
  })
  const { status } = await post(`/api/v1/namespaces/${http.namespace}/serviceaccounts/runner/token`, { spec: { expirationSeconds: 3_600 } })
  const file = join(directory, 'token')
  await writeFile(file, status.token)
  return file
}

async function spawnRunner(env: Record<string, string>, sign: Signer, address: { uid: string; ip: string }) {
  const [port = 0] = await findFreePorts(1)
  const child = spawn(process.execPath, [MAIN], { env: { ...env, TINTYPE_PORT: String(port) }, stdio: ['ignore', 'pipe', 'pipe'] })
  endWithTest(child)
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => output.push(chunk))
  const log = () => Buffer.concat(output).toString()
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const url = `http://127.0.0.1:${port}`
  await eventually('the runner is ready', async () => child.exitCode !== null || (await fetch(`${url}/readyz`)).ok)
  if (child.exitCode !== null) throw new Error(`the runner ended: ${log()}`)
  const client = new RunnerClient(sign, { port })
  const key = toEncryptionKey(await client.identity(address))
  /** Returns the exit code. */
  const stop = async () => {
    child.kill('SIGTERM')
    const code = await ended
    parseLogLines(log())
    return code
  }
  return { url, child, client, key, log, stop }
}
