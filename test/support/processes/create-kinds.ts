import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type CustomResourceDefinition, customResourceDefinitions } from '../../../crds/client/core-resources.ts'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { eventually } from '../eventually.ts'

const GENERATED = join(import.meta.dirname, '../../../crds/generated')

/**
 * Creates the generated CustomResourceDefinitions, and waits until the API server serves them. kubectl would use another second of
 * processor time.
 * @param plurals kinds to create; default: all
 */
export async function createKinds(http: KubeHttp, plurals?: readonly string[]): Promise<void> {
  const definitions = new Resource(http, customResourceDefinitions)
  const files = (await readdir(GENERATED)).filter((file) => file.endsWith('.yaml'))
  const wanted = files.filter((file) => plurals === undefined || plurals.some((plural) => file === `tintype.dev_${plural}.yaml`))
  await Promise.all(
    wanted.map(async (file) => {
      const { metadata } = await definitions.create(parse(await readFile(join(GENERATED, file), 'utf8')) as CustomResourceDefinition)
      await eventually(`${metadata.name} is served`, async () => {
        const { status } = await definitions.get(metadata.name)
        return status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True')
      })
    }),
  )
}
