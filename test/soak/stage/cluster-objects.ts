import { accessFromKubeconfig } from '../../../crds/client/cluster-access.ts'
import { pods } from '../../../crds/client/core-resources.ts'
import { runnerPools, screenshots } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { DEFAULT_POOL } from '../../../crds/src/identifiers/names.ts'
import { paths, releaseNamespace } from '../../cluster/host/state.ts'
import type { CleanupStack } from './ends.ts'

/** A page of four colors on the running cluster. */
export const QUADRANTS = 'http://pages.sites.svc.cluster.local/quadrants'

/** Objects of the running release, and the spec of its pool as a template for other pools. */
export async function openCluster(cleanupStack: CleanupStack) {
  const http = new KubeHttp({ ...(await accessFromKubeconfig(paths.kubeconfig)), namespace: releaseNamespace })
  cleanupStack.teardown(() => http.close())
  const pools = new Resource(http, runnerPools)
  const { spec } = await pools.get(DEFAULT_POOL)
  return { http, pools, pods: new Resource(http, pods), shots: new Resource(http, screenshots), spec }
}
