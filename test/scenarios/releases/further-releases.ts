import { releaseName, releaseNamespace } from '../../cluster/host/state.ts'
import { formatDuration } from '../../cluster/host/steps.ts'
import { helm, kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { eventually } from '../../support/eventually.ts'
import { clusterStage } from '../cluster/stage/cluster-objects.ts'
import { type Report, scenario } from '../harness/scenario.ts'
import { capturePage, installLocal, type LocalRelease, testEndToEnd } from './stage/local-release.ts'
import { CHART, imageOptions } from './stage/running-release.ts'
import { CLUSTER_KINDS, clientOf, isPng } from './stage/trial-release.ts'

/** The end-to-end tests, conformance and chaos among them, on the second bundled store. `npm test` runs them on MinIO. */
export const clusterVersitygw = scenario({
  name: 'cluster-versitygw',
  shows: 'a release with versitygw as its store passes the end-to-end tests',
  stage: clusterStage,
  run: async ({ ends, ...report }) => {
    report.progress('helm install')
    const installation = { namespace: 'tintype-versitygw', chart: CHART, options: await imageOptions(), store: 'versitygw' } as const
    const release = await installLocal(ends, installation)
    const picture = await capturePage(release)
    const time = formatDuration(performance.now() - release.began)
    report.holds('helm install leads to a picture', isPng(picture), `${picture.length} bytes after ${time}`)
    await testEndToEnd(release, report)
  },
})

// Two releases with the same name in two namespaces, one with each store, beside that of `npm start`.

/** What an operator may do in its own namespace. */
const RIGHTS = [
  ['list', 'screenshots.tintype.dev'],
  ['delete', 'screenshots.tintype.dev'],
  ['list', 'accounts.tintype.dev'],
  ['create', 'pods'],
  ['get', 'secrets'],
] as const

export const clusterSideBySide = scenario({
  name: 'cluster-side-by-side',
  shows: 'two releases in one cluster capture, do not see each other, and one outlives the other',
  stage: clusterStage,
  run: async ({ ends, ...report }) => {
    const options = await imageOptions()
    report.progress('install the first release')
    const first = await installLocal(ends, { namespace: 'tintype-first', chart: CHART, options, store: 'minio' })
    report.progress('install the second release')
    const second = await installLocal(ends, { namespace: 'tintype-second', chart: CHART, options, store: 'versitygw' })
    await compare(report, first, second)
    report.progress('uninstall the first release')
    await uninstall(report, first, second)
  },
})

const apiOf = ({ url, apiKey }: LocalRelease) => clientOf(url, apiKey)

async function listIds(release: LocalRelease): Promise<string[]> {
  const { body } = await apiOf(release).ask<{ data: { id: string }[] }>('/screenshots?limit=100')
  return body.data.map(({ id }) => id)
}

async function compare({ holds }: Report, first: LocalRelease, second: LocalRelease): Promise<void> {
  const pictures = await Promise.all([first, second].map(capturePage))
  holds('each release captures', pictures.every(isPng), pictures.map(({ length }) => `${length} bytes`).join(', '))
  const [ids, others] = [await listIds(first), await listIds(second)]
  const areOwn = ids.length > 0 && others.length > 0 && !ids.some((id) => others.includes(id))
  holds('each release lists only its own screenshots', areOwn, `${ids.length} and ${others.length}`)
  const foreign = await clientOf(second.url, first.apiKey).ask('/screenshots')
  holds('the API key of one is refused by the other', foreign.status === 401, `status ${foreign.status}`)
  const record = await apiOf(second).ask(`/screenshots/${ids[0]}`)
  holds('a record of one is unknown to the other', record.status === 404, `status ${record.status}`)
  const rights = [...(await findRights(first, second)), ...(await findRights(second, first))]
  holds('programs of one have no rights in the namespace of the other', rights.length === 0, rights.join('; ') || 'none')
}

/** Rights of the programs of one release that hold in the namespace of the other, or that are missing in their own. */
async function findRights(own: LocalRelease, other: LocalRelease): Promise<string[]> {
  const user = (program: string) => `system:serviceaccount:${own.trial.namespace}:${releaseName}-${program}`
  const may = (program: string, verb: string, resource: string, namespace: string) =>
    kubectl(['auth', 'can-i', verb, resource, '-n', namespace, '--as', user(program)]).then(
      () => true,
      () => false,
    )
  const found: string[] = []
  for (const program of ['operator', 'api-gateway', 'capture-runner'])
    for (const [verb, resource] of RIGHTS)
      if (await may(program, verb, resource, other.trial.namespace)) found.push(`${program} may ${verb} ${resource}`)
  // The control: without it, a wrong user name would look like isolation.
  for (const [verb, resource] of RIGHTS)
    if (!(await may('operator', verb, resource, own.trial.namespace)))
      found.push(`operator may not ${verb} ${resource} in its own namespace`)
  return found
}

/** Uids of cluster-wide objects of Tintype by `Kind/name`. */
async function readClusterObjects(): Promise<Map<string, string>> {
  const text = await kubectl(['get', ['customresourcedefinitions', ...CLUSTER_KINDS].join(), '-o', 'json'])
  const { items } = JSON.parse(text) as { items: { kind: string; metadata: { name: string; uid: string } }[] }
  return new Map(
    items.filter(({ metadata }) => /tintype/.test(metadata.name)).map(({ kind, metadata }) => [`${kind}/${metadata.name}`, metadata.uid]),
  )
}

async function uninstall({ holds }: Report, first: LocalRelease, second: LocalRelease): Promise<void> {
  const [id = ''] = await listIds(second)
  const isOf =
    ({ trial }: LocalRelease) =>
    (object: string) =>
      object.includes(`/${trial.namespace}-${releaseName}`)
  const before = await readClusterObjects()
  const names = [...before.keys()]
  const count = (release: LocalRelease) => names.filter(isOf(release)).length
  await helm(['uninstall', releaseName, '--namespace', first.trial.namespace, '--wait'])
  const after = await readClusterObjects()
  const left = [...after.keys()].filter(isOf(first))
  const gone = left.join(', ') || `${count(first)} of ${count(first)}`
  holds('its cluster-wide objects are gone', count(first) > 0 && left.length === 0, gone)
  const others = names.filter((name) => !isOf(first)(name))
  const changed = others.filter((name) => after.get(name) !== before.get(name))
  const kinds = others.filter((name) => name.startsWith('CustomResourceDefinition/')).length
  holds(
    `cluster-wide objects of the others are unchanged, such as those of ${releaseNamespace} and the CRDs`,
    count(second) === count(first) && changed.length === 0,
    changed.join(', ') || `${others.length} objects, ${kinds} of them CRDs`,
  )
  const pods = async () => (await kubectl(['get', 'pods', '-n', first.trial.namespace, '-o', 'name'])) === ''
  await eventually('the pods of the first release are gone', pods)
  const { ask, download } = apiOf(second)
  const { body } = await ask<{ download_url?: string }>(`/screenshots/${id}`)
  const file = await download(body.download_url ?? '')
  holds('the second release keeps its files', isPng(file), `${file?.length} bytes`)
  const picture = await capturePage(second)
  holds('the second release captures afterwards', isPng(picture), `${picture.length} bytes`)
}
