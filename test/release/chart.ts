/** Packages the chart of a release: with its registry as the default, and with annotations for Artifact Hub. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Document, isMap, parseDocument, stringify } from 'yaml'
import { run } from '../cluster/host/exec.ts'
import { repository } from '../cluster/host/state.ts'
import { locatePrograms } from '../cluster/programs/programs.ts'
import type { ReleaseBuild, ReleasedImage } from './images.ts'
import { isLoopback } from './settings.ts'

const chartSource = path.join(repository, 'charts/tintype')

/** Runs the helm of the local cluster, without a cluster. */
export const helm = async (args: readonly string[]): Promise<string> => run(path.join((await locatePrograms()).kubernetes, 'helm'), args)

/** Reference of the chart, as `helm install` takes it. */
export const chartReference = (registry: string): string => `oci://${registry}/charts/tintype`

/** Flags of helm for a registry on this machine, which has no TLS. */
export const plainFlags = (registry: string): string[] => (isLoopback(registry) ? ['--plain-http'] : [])

/** values.yaml with another default for `image.registry`. Comments stay. @throws when the chart has no such value */
export function withRegistry(values: string, registry: string): string {
  const pattern = /^( {2}registry: )""( # required)?$/m
  if (!pattern.test(values)) throw new Error('charts/tintype/values.yaml has no empty image.registry: change withRegistry')
  return values.replace(pattern, `$1${registry}`)
}

/** Chart.yaml with the version of a release and the annotations of Artifact Hub. */
export function annotateChart(
  text: string,
  { version, registry, source }: ReleaseBuild,
  images: readonly Pick<ReleasedImage, 'name' | 'platforms'>[],
): string {
  const document = parseDocument(text)
  document.set('version', version)
  document.set('appVersion', new Document(version).createNode(version))
  if (source !== undefined) {
    document.set('home', source)
    document.set('sources', [source])
  }
  const list = images.map(({ name, platforms }) => ({
    name,
    image: `${registry}/${name}:${version}`,
    platforms: platforms.map(({ platform }) => `linux/${platform}`),
  }))
  const annotations = document.get('annotations')
  if (!isMap(annotations)) throw new Error('charts/tintype/Chart.yaml has no annotations')
  annotations.set('artifacthub.io/images', stringify(list))
  annotations.set('artifacthub.io/prerelease', String(version.includes('-')))
  return document.toString({ lineWidth: 0 })
}

/** Writes `tintype-<version>.tgz` to the release's directory. Resolves to its path. */
export async function packageChart(build: ReleaseBuild, images: readonly ReleasedImage[]): Promise<string> {
  const draft = await mkdtemp(path.join(tmpdir(), 'tintype-chart-'))
  try {
    const chart = path.join(draft, 'tintype')
    await cp(chartSource, chart, { recursive: true })
    await cp(path.join(repository, 'LICENSE'), path.join(chart, 'LICENSE'))
    for (const file of ['values.yaml', 'files/values.yaml']) {
      const target = path.join(chart, file)
      await writeFile(target, withRegistry(await readFile(target, 'utf8'), build.registry))
    }
    const manifest = path.join(chart, 'Chart.yaml')
    await writeFile(manifest, annotateChart(await readFile(manifest, 'utf8'), build, images))
    await helm(['lint', '--strict', chart])
    await helm(['package', chart, '--destination', build.output])
    return path.join(build.output, `tintype-${build.version}.tgz`)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}
