import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadClusterAccess } from '@tintype/crds/client/cluster-access'
import { type CustomResourceDefinition, customResourceDefinitions } from '@tintype/crds/client/core-resources'
import { KubeHttp } from '@tintype/crds/client/kube-http'
import { applyPatch } from '@tintype/crds/client/patch'
import { Resource } from '@tintype/crds/client/resource'

// Run by a chart hook before each installation and upgrade, because Helm installs CustomResourceDefinitions once and never updates them. It
// has its own ServiceAccount, which is deleted after success.
//
// rbac: apiextensions.k8s.io/customresourcedefinitions get,create,patch

const FIELD_MANAGER = 'tintype-crds'
const ESTABLISHED_MILLISECONDS = 30_000
const POLL_MILLISECONDS = 200

/** Applies every definition (`*.json`) of a directory and waits until the API server serves them. */
export async function applyDefinitions(directory: string, env: NodeJS.ProcessEnv): Promise<void> {
  const http = new KubeHttp(await loadClusterAccess(env))
  const resource = new Resource(http, customResourceDefinitions)
  try {
    const files = (await readdir(directory)).filter((file) => file.endsWith('.json')).sort()
    if (files.length === 0) throw new Error(`no definitions in ${directory}`)
    for (const file of files) {
      const definition = JSON.parse(await readFile(join(directory, file), 'utf8')) as CustomResourceDefinition
      await resource.patch(definition.metadata.name, applyPatch(definition, { fieldManager: FIELD_MANAGER }))
      await awaitEstablished(resource, definition.metadata.name)
    }
  } finally {
    await http.close()
  }
}

async function awaitEstablished(resource: Resource<CustomResourceDefinition>, name: string): Promise<void> {
  const deadline = performance.now() + ESTABLISHED_MILLISECONDS
  for (;;) {
    const { status } = await resource.get(name)
    const conditions = status?.conditions ?? []
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return
    const refused = conditions.find(({ type, status }) => type === 'NonStructuralSchema' && status === 'True')
    if (refused) throw new Error(`${name}: ${refused.message}`)
    if (performance.now() > deadline)
      throw new Error(`${name} was not established within ${ESTABLISHED_MILLISECONDS} ms after it was applied`)
    await sleep(POLL_MILLISECONDS)
  }
}
