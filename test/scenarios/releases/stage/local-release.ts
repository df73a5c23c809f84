/**
 * A further release on the running cluster, with the name and the values of that of `npm start` and a port of its own, so that the end-to-end tests fit
 * it. Only its namespace differs.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CommandError, run } from '../../../cluster/host/exec.ts'
import { releaseName, repository } from '../../../cluster/host/state.ts'
import { formatDuration } from '../../../cluster/host/steps.ts'
import { helm, kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { type Access, writeAccess } from '../../../cluster/release/first-capture.ts'
import { SHORT_RETRIES } from '../../../cluster/release/release.ts'
import { ensureWebhookAuthority } from '../../../cluster/release/webhook-authority.ts'
import { eventually } from '../../../support/eventually.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import { QUADRANTS } from '../../cluster/stage/cluster-objects.ts'
import type { Report } from '../../harness/scenario.ts'
import { openLoopbackPort } from './loopback-port.ts'
import { openTrial, readFirstKey, type Trial } from './trial-release.ts'

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

export interface Installation {
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
