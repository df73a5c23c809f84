import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type CustomResourceDefinition, customResourceDefinitions } from '../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import { jsonPatch, Resource } from '../../../crds/client/resource.ts'
import { eventually } from '../eventually.ts'

const GENERATED = join(import.meta.dirname, '../../../charts/tintype/crds')

/**
 * Creates the generated CustomResourceDefinitions, and waits until the API server serves them. kubectl would use another second of
 * processor time.
 */
export async function createKinds(http: KubeHttp): Promise<void> {
  const definitions = new Resource(http, customResourceDefinitions)
  const files = (await readdir(GENERATED)).filter((file) => file.endsWith('.yaml'))
  await Promise.all(
    files.map(async (file) => {
      const { metadata } = await definitions.create(parse(await readFile(join(GENERATED, file), 'utf8')) as CustomResourceDefinition)
      await eventually(`${metadata.name} is served`, async () => {
        const { status } = await definitions.get(metadata.name)
        return status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True')
      })
    }),
  )
}

const RULES = '/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations'

/**
 * Creates objects as before an upgrade, when their kind had no rules about names. Resolves when the rules are in force again.
 * @param create creates the objects; it is called until the API server accepts them
 * @param isRefused tries to create an object that the rules refuse
 */
export async function createBeforeRules<T>(
  http: KubeHttp,
  plural: string,
  { create, isRefused }: { create: () => Promise<T>; isRefused: () => Promise<boolean> },
): Promise<T> {
  const definitions = new Resource(http, customResourceDefinitions)
  const name = `${plural}.tintype.dev`
  const { spec } = await definitions.get(name)
  const value = (spec.versions[0]!.schema!.openAPIV3Schema as Record<string, unknown>)['x-kubernetes-validations']
  await definitions.patch(name, jsonPatch([{ op: 'remove', path: RULES }]))
  try {
    return await eventually(`${plural} have no rules`, create)
  } finally {
    await definitions.patch(name, jsonPatch([{ op: 'add', path: RULES, value }]))
    await eventually(`${plural} have their rules again`, isRefused)
  }
}
