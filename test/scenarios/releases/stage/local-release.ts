import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CommandError, run } from '../../../cluster/host/exec.ts'
import { network, releaseName, repository } from '../../../cluster/host/state.ts'
import { formatDuration } from '../../../cluster/host/steps.ts'
import { hostPlatform } from '../../../cluster/images/platforms.ts'
import { helm, kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { descriptorOf } from '../../../cluster/kubernetes/network.ts'
import { chooseSnapshotter, ctr } from '../../../cluster/kubernetes/node.ts'
import { type Access, writeAccess } from '../../../cluster/release/first-capture.ts'
import { SHORT_RETRIES } from '../../../cluster/release/release.ts'
import { ensureWebhookAuthority } from '../../../cluster/release/webhook-authority.ts'
import { chartReference, plainFlags } from '../../../release/chart.ts'
import type { Release } from '../../../release/release.ts'
import { eventually } from '../../../support/eventually.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import { QUADRANTS } from '../../cluster/stage/cluster-objects.ts'
import type { Context, Report } from '../../harness/scenario.ts'
import { isPng, openTrial, readFirstKey, type Trial } from './trial-release.ts'

/**
 * A further release on the running cluster, with the name and the values of that of `npm start` and a port of its own, so that the end-to-end tests fit
 * it. Only its namespace differs.
 */

/** A port on the host's loopback for a NodePort of the local cluster, as `npm start` opens one for its gateway (test/cluster/kubernetes/network.ts). */

/** Installs a release from its registry into the running local cluster, and captures a page. */

const VALUES = path.join(repository, 'test/cluster/release/values.yaml')
const FIRST_MILLISECONDS = 600_000
const TESTS_MILLISECONDS = 60 * 60_000

/** The bundled store of a release. */
export type Store = 'minio' | 'versitygw'

export interface LocalRelease extends Access {
  trial: Trial
  store: Store
  /** When `helm install` began, by performance.now(). */
  began: number
}

interface Installation {
  namespace: string
  /** Path of the chart, or its reference in a registry. */
  chart: string
  /** Options of `helm install` besides the values of the local cluster. */
  options: readonly string[]
  store?: Store
}

/** Installs a release and waits until its pool is ready. At the end the release and its namespace are removed. */
export async function installLocal(ends: Ends, { namespace, chart, options, store = 'minio' }: Installation): Promise<LocalRelease> {
  const trial = await openTrial(ends, { release: releaseName, namespace })
  const port = await openLoopbackPort()
  ends.teardown(port.close)
  await trial.makeNamespace()
  const values = {
    'gateway.publicUrl': port.url,
    'gateway.service.nodePort': 'null', // the API server chooses one
    'webhooks.extraCaConfigMap': await ensureWebhookAuthority(namespace),
    store,
  }
  const all = [...Object.entries(values).map(([name, value]) => `${name}=${value}`), SHORT_RETRIES]
  const settings = all.flatMap((setting) => ['--set', setting])
  const began = performance.now()
  await helm(['install', releaseName, chart, '--namespace', namespace, '--values', VALUES, ...settings, ...options])
  const service = ['get', 'service', `${releaseName}-api-gateway`, '-n', namespace, '-o', 'jsonpath={.spec.ports[0].nodePort}']
  port.forwardTo(Number(await kubectl(service)))
  await trial.whenReady() // the first API key exists by then
  return { trial, store, began, url: port.url, apiKey: await readFirstKey(trial) }
}

/** Captures a page by REST. Repeats the request until a runner is ready. */
export async function capturePage({ url, apiKey }: Access): Promise<Buffer> {
  const request = {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', accept: 'image/*' },
    body: JSON.stringify({ url: QUADRANTS, options: { capture_timeout: 60_000 } }),
  }
  return eventually(
    'the first picture',
    async () => {
      const response = await fetch(`${url}/api/v1/screenshots`, request)
      const bytes = Buffer.from(await response.arrayBuffer())
      return response.status === 200 && bytes
    },
    FIRST_MILLISECONDS,
  )
}

/** Runs the end-to-end tests on the release, except those that stop parts of the cluster itself. */
export async function testEndToEnd(release: LocalRelease, { holds, progress }: Report): Promise<void> {
  progress('end-to-end tests')
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-tested-'))
  const environmentFile = path.join(directory, '.tintype/env')
  const started = performance.now()
  let totals = 'no result'
  let flaky = ''
  const onLine = (line: string): void => {
    if (line !== '') progress(line)
    if (/^\d+ passed, \d+ failed$/.test(line)) totals = line
    if (line.startsWith('flaky: ')) flaky += `; ${line.split(' failed')[0]}`
  }
  const environment = {
    TINTYPE_TEST_NAMESPACE: release.trial.namespace,
    TINTYPE_TEST_STORE: release.store,
    TINTYPE_TEST_ENVIRONMENT: environmentFile,
  }
  const options = { directory: repository, environment, onLine, timeoutMilliseconds: TESTS_MILLISECONDS }
  try {
    await writeAccess(release, environmentFile)
    const passed = await run(process.execPath, ['test/run.ts', 'e2e'], options).then(
      () => true,
      (error: unknown) => {
        if (error instanceof CommandError) return false
        throw error
      },
    )
    holds('the end-to-end tests pass on it', passed, `${totals} in ${formatDuration(performance.now() - started)}${flaky}`)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const PROGRAM = path.join(repository, 'test/cluster/kubernetes/loopback-proxy.ts')

/** Reserves a port from the start, so that its URL can be a value of the chart, and that has a target later. The caller must close it. */
async function openLoopbackPort() {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  let child: ChildProcess | undefined
  /** Forwards connections to a NodePort from now on. */
  const forwardTo = (nodePort: number): void => {
    const args = [`--net=${network.namespacePath}`, process.execPath, PROGRAM, `${network.nodeAddress}:${nodePort}`]
    child = spawn('nsenter', args, { stdio: ['ignore', 'inherit', 'inherit', descriptorOf(server)] })
    server.close() // the program holds the socket now
  }
  const close = (): void => {
    server.close()
    child?.kill()
  }
  return { url: `http://127.0.0.1:${port}`, forwardTo, close }
}

const NAMESPACE = 'tintype-registry'

/** The values of the local cluster name its own images, which are loaded and never pulled. */
const fromRegistry = (registry: string): string[] => ['--set', `image.registry=${registry},image.pullPolicy=IfNotPresent`]

/** Pulls the images as a node does. The node has a network of its own, which does not reach loopback, so the kubelet cannot pull. */
async function pullImages({ build, images }: Release): Promise<void> {
  const options = ['--plain-http', '--platform', `linux/${hostPlatform}`, '--snapshotter', await chooseSnapshotter()]
  for (const { name } of images) await ctr(['images', 'pull', ...options, `${build.registry}/${name}:${build.version}`])
}

/** Measures the time from pull and `helm install` to the first picture, and runs the end-to-end tests on what was installed. */
export async function installFromRegistry(release: Release, { ends, ...report }: Omit<Context, 'settings' | 'stage'>) {
  const { build, images } = release
  report.progress('install into the cluster')
  const begun = performance.now()
  ends.teardown(() => ctr(['images', 'remove', ...images.map(({ name }) => `${build.registry}/${name}:${build.version}`)]))
  await pullImages(release)
  report.note('the node pulls the images from the registry', formatDuration(performance.now() - begun))
  const options = ['--version', build.version, ...plainFlags(build.registry), ...fromRegistry(build.registry)]
  const installed = await installLocal(ends, { namespace: NAMESPACE, chart: chartReference(build.registry), options })
  const picture = await capturePage(installed)
  const time = formatDuration(performance.now() - installed.began)
  report.holds('helm install oci://… leads to a picture', isPng(picture), `${picture.length} bytes after ${time}`)
  await testEndToEnd(installed, report)
}
