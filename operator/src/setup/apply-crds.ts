import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiextensionsV1Api, KubeConfig, PatchStrategy, setHeaderOptions, type V1CustomResourceDefinition } from '@kubernetes/client-node'
import { retry } from '@tintype/crds/runtime/retry'

// Run by a chart hook before each installation and upgrade, because Helm installs CustomResourceDefinitions once and never updates them. It
// has its own ServiceAccount, which is deleted after success.
//
// rbac: apiextensions.k8s.io/customresourcedefinitions create,patch

const LIMIT_MILLISECONDS = 30_000
const RETRY_MILLISECONDS = 200

/**
 * Applies every definition (`*.json`) of a directory until the API server serves it.
 * @throws the last error of a definition that is not served after 30 seconds; Error if there is none
 */
export async function applyDefinitions(directory: string, { KUBECONFIG }: NodeJS.ProcessEnv): Promise<void> {
  const config = new KubeConfig()
  if (KUBECONFIG) config.loadFromFile(KUBECONFIG)
  else config.loadFromCluster()
  const api = config.makeApiClient(ApiextensionsV1Api)
  const files = (await readdir(directory)).filter((file) => file.endsWith('.json')).sort()
  if (files.length === 0) throw new Error(`no definitions in ${directory}`)
  for (const file of files) {
    const definition = JSON.parse(await readFile(join(directory, file), 'utf8')) as V1CustomResourceDefinition
    const deadline = performance.now() + LIMIT_MILLISECONDS
    const delayOf = () => (performance.now() > deadline ? undefined : RETRY_MILLISECONDS)
    await retry(() => apply(definition, api), { delayOf, wait: sleep })
  }
}

/** Applies a definition, unchanged ones too: the response has its status. @throws Error unless the API server serves it */
async function apply(body: V1CustomResourceDefinition, api: ApiextensionsV1Api): Promise<void> {
  const { name = '' } = body.metadata ?? {}
  const options = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply)
  const { status } = await api.patchCustomResourceDefinition({ name, body, fieldManager: 'tintype-crds', force: true }, options)
  const conditions = status?.conditions ?? []
  if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return
  throw new Error(`${name} is not established: ${conditions.map(({ type, message }) => `${type}: ${message}`).join('; ')}`)
}
