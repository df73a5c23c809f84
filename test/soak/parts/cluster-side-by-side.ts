import { releaseName, releaseNamespace } from '../../cluster/host/state.ts'
import { helm, kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { eventually } from '../../support/eventually.ts'
import { type Finding, holds, type Part } from '../part.ts'
import { capturePage, isPng, type LocalRelease, withLocalRelease } from '../stage/local-release.ts'
import { CHART, imageOptions } from '../stage/running-images.ts'
import { CLUSTER_KINDS } from '../stage/trial-release.ts'

// Two releases with the same name in two namespaces, one with each store, beside that of `npm start`.

/** What an operator may do in its own namespace. */
const RIGHTS = [
  ['list', 'screenshots.tintype.dev'],
  ['delete', 'screenshots.tintype.dev'],
  ['list', 'accounts.tintype.dev'],
  ['create', 'pods'],
  ['get', 'secrets'],
] as const

export const clusterSideBySide: Part = {
  name: 'cluster-side-by-side',
  shows: 'two releases in one cluster capture, do not see each other, and one outlives the other',
  run: async ({ progress }) => {
    const options = await imageOptions()
    const install = (namespace: string, store: 'minio' | 'versitygw') => ({ namespace, chart: CHART, options, store })
    progress('install the first release')
    return withLocalRelease(install('tintype-first', 'minio'), (first) => {
      progress('install the second release')
      return withLocalRelease(install('tintype-second', 'versitygw'), async (second) => {
        const findings = await compare(first, second)
        progress('uninstall the first release')
        return { findings: [...findings, ...(await uninstall(first, second))] }
      })
    })
  },
}

const authorize = ({ apiKey }: LocalRelease) => ({ authorization: `Bearer ${apiKey}` })

async function listIds(release: LocalRelease): Promise<string[]> {
  const response = await fetch(`${release.url}/api/v1/screenshots?limit=100`, { headers: authorize(release) })
  const { data } = (await response.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}

async function compare(first: LocalRelease, second: LocalRelease): Promise<Finding[]> {
  const pictures = await Promise.all([first, second].map(capturePage))
  const [ids, others] = [await listIds(first), await listIds(second)]
  const foreign = await fetch(`${second.url}/api/v1/screenshots`, { headers: authorize(first) })
  const record = await fetch(`${second.url}/api/v1/screenshots/${ids[0]}`, { headers: authorize(second) })
  const rights = [...(await findRights(first, second)), ...(await findRights(second, first))]
  return [
    holds('each release captures', pictures.every(isPng), pictures.map(({ length }) => `${length} bytes`).join(', ')),
    holds(
      'each release lists only its own screenshots',
      ids.length > 0 && others.length > 0 && !ids.some((id) => others.includes(id)),
      `${ids.length} and ${others.length}`,
    ),
    holds('the API key of one is refused by the other', foreign.status === 401, `status ${foreign.status}`),
    holds('a record of one is unknown to the other', record.status === 404, `status ${record.status}`),
    holds('programs of one have no rights in the namespace of the other', rights.length === 0, rights.join('; ') || 'none'),
  ]
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

async function uninstall(first: LocalRelease, second: LocalRelease): Promise<Finding[]> {
  const [id = ''] = await listIds(second)
  const isOf =
    ({ trial }: LocalRelease) =>
    (object: string) =>
      object.includes(`/${trial.namespace}-${releaseName}`)
  const before = await readClusterObjects()
  const names = [...before.keys()]
  await helm(['uninstall', releaseName, '--namespace', first.trial.namespace, '--wait'])
  const after = await readClusterObjects()
  const left = [...after.keys()].filter(isOf(first))
  const others = names.filter((name) => !isOf(first)(name))
  const changed = others.filter((name) => after.get(name) !== before.get(name))
  await eventually(
    'the pods of the first release are gone',
    async () => (await kubectl(['get', 'pods', '-n', first.trial.namespace, '-o', 'name'])) === '',
  )
  const record = await fetch(`${second.url}/api/v1/screenshots/${id}`, { headers: authorize(second) })
  const { download_url: link = '' } = (await record.json()) as { download_url?: string }
  const file = Buffer.from(await (await fetch(new URL(link, second.url))).arrayBuffer())
  const picture = await capturePage(second)
  const count = (release: LocalRelease) => names.filter(isOf(release)).length
  return [
    holds(
      'its cluster-wide objects are gone',
      count(first) > 0 && left.length === 0,
      left.join(', ') || `${count(first)} of ${count(first)}`,
    ),
    holds(
      `cluster-wide objects of the others are unchanged, such as those of ${releaseNamespace} and the CRDs`,
      count(second) === count(first) && changed.length === 0,
      changed.join(', ') ||
        `${others.length} objects, ${names.filter((name) => name.startsWith('CustomResourceDefinition/')).length} of them CRDs`,
    ),
    holds('the second release keeps its files', isPng(file), `${file.length} bytes`),
    holds('the second release captures afterwards', isPng(picture), `${picture.length} bytes`),
  ]
}
