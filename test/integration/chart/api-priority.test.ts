import { request } from 'node:https'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { installRelease, NAMESPACE } from '../admission/release.ts'

// The priority level of the API server for a request, as its response headers report. Requests impersonate the programs of the release.

const { kubeconfigPath, admin: http } = await installRelease(t)
const access = await accessPlane(kubeconfigPath)
/** The chart begins the names of objects without a namespace with this. */
const PREFIX = `${NAMESPACE}-`

interface Named {
  items: { metadata: { name: string; uid: string } }[]
}
const list = (kind: string) => http.request<Named>({ method: 'GET', path: `/apis/flowcontrol.apiserver.k8s.io/v1/${kind}` })
const nameOf = ({ items }: Named, uid: unknown) => items.find(({ metadata }) => metadata.uid === uid)?.metadata.name

/** The FlowSchema and the priority level of a request by one of the release's service accounts. */
async function classify(account: string, method: string, path: string): Promise<{ schema: string | undefined; level: string | undefined }> {
  const { tls, headers } = await access.credentials({ refresh: false })
  const answered = Promise.withResolvers<NodeJS.Dict<string | string[]>>()
  const asAccount = { ...headers, 'impersonate-user': `system:serviceaccount:${NAMESPACE}:tintype-${account}` }
  const call = request(new URL(path, access.server), { method, headers: asAccount, ...tls }, (response) => {
    response.resume()
    answered.resolve(response.headers)
  })
  call.on('error', answered.reject).end()
  const told = await answered.promise
  const [schemas, levels] = await Promise.all([list('flowschemas'), list('prioritylevelconfigurations')])
  return {
    schema: nameOf(schemas, told['x-kubernetes-pf-flowschema-uid']),
    level: nameOf(levels, told['x-kubernetes-pf-prioritylevel-uid']),
  }
}

const lease = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/tintype-operator`
const kind = `/apis/tintype.dev/v1alpha1/namespaces/${NAMESPACE}`
const leases = { schema: `${PREFIX}tintype-leases`, level: 'leader-election' }
const captures = { schema: `${PREFIX}tintype-captures`, level: `${PREFIX}tintype-captures` }
const others = { schema: 'service-accounts', level: 'workload-low' }
for (const [what, account, method, path, wanted] of [
  ['a renewal of the lease', 'operator', 'PUT', lease, leases],
  ['a claim', 'operator', 'PATCH', `${kind}/screenshots/some/status`, captures],
  ['a report', 'capture-runner', 'PATCH', `${kind}/screenshots/some/status`, captures],
  ['a write of the quota usage', 'api-gateway', 'PUT', `${kind}/accountusages/some/status`, captures],
  ['a list', 'operator', 'GET', `${kind}/screenshots`, others],
  ['a lease of another program', 'operator', 'PUT', lease.replace(`/${NAMESPACE}/`, '/default/'), others],
] as const) {
  t.test(`the API server queues ${what} of ${account} by ${wanted.schema.replace(PREFIX, '')}`, async (t) => {
    // The API server applies new FlowSchemas after a moment.
    const isApplied = async () => isDeepStrictEqual(await classify(account, method, path), wanted)
    await eventually(`the queue of ${what} is ${wanted.schema}`, isApplied, 60_000).catch(() => {})
    t.strictSame(await classify(account, method, path), wanted)
  })
}
