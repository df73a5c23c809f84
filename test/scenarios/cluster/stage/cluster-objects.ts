import { accessFromKubeconfig } from '../../../../crds/client/cluster-access.ts'
import { pods, runnerPools, screenshots } from '../../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../../crds/client/kube-http.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import { DEFAULT_POOL } from '../../../../crds/src/identifiers/names.ts'
import { paths, releaseNamespace } from '../../../cluster/host/state.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import { describeClusterStore } from '../../harness/machine.ts'
import type { Stage } from '../../harness/scenario.ts'

/** A page of four colors on the running cluster. */
export const QUADRANTS = 'http://pages.sites.svc.cluster.local/quadrants'

/** The stage of scenarios that use the running release, or install others beside it. */
export const clusterStage: Stage<undefined> = { name: 'cluster', open: async () => undefined, about: describeClusterStore }

/** Objects of the running release, and the spec of its pool as a template for other pools. */
export async function openCluster(ends: Ends) {
  const http = new KubeHttp({ ...(await accessFromKubeconfig(paths.kubeconfig)), namespace: releaseNamespace })
  ends.teardown(() => http.close())
  const pools = new Resource(http, runnerPools)
  const { spec } = await pools.get(DEFAULT_POOL)
  return { http, pools, pods: new Resource(http, pods), shots: new Resource(http, screenshots), spec }
}
