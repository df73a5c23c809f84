import { kubectl } from '../support/cluster/environment.ts'
import { CAPTURE_PARTS, HOSTILE_PARTS, PRICE_PARTS } from './settings.ts'

const NO_CLUSTER = 'no cluster responds; run npm start first, or set TINTYPE_CLUSTER=current'
const NEED_CLUSTER: readonly string[] = [...CAPTURE_PARTS, ...HOSTILE_PARTS, ...PRICE_PARTS]

/** One line for the user when a part needs a cluster and none responds. Undefined when the parts can run. */
export async function findClusterProblem(parts: readonly string[]): Promise<string | undefined> {
  if (!parts.some((part) => NEED_CLUSTER.includes(part))) return undefined
  // Without `npm start` no kubeconfig exists, so kubectl is not started at all.
  const isReady = await kubectl(['get', '--raw', '/readyz', '--request-timeout=10s']).then(
    ({ code }) => code === 0,
    () => false,
  )
  return isReady ? undefined : NO_CLUSTER
}
