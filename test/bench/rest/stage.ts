/**
 * Environment of the REST benchmarks: a separate API server, an etcd that waits for the disk, MinIO, and gateways as in their image:
 * bundled, with its flags, with service account files instead of a kubeconfig. There is no operator, so nothing is captured.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { accessFromKubeconfig } from '../../../crds/client/cluster-access.ts'
import { namespaces, serviceAccounts } from '../../../crds/client/core-resources.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import type { KubeObject } from '../../../crds/client/kube-object.ts'
import { defineResource, Resource } from '../../../crds/client/resource.ts'
import { bundleProgram } from '../../cluster/images/bundle.ts'
import { type Gateway, startWorld, type World } from '../../integration/api-gateway/world.ts'
import { NODE_ENVIRONMENT, NODE_FLAGS, withAccount, writeServiceAccount } from '../../support/processes/as-in-pod.ts'
import { undoing } from '../report/undo.ts'

export interface Stage {
  world: World
  /** Connections with the rights of an administrator. */
  admin: KubeHttp
  startGateway: (env?: Record<string, string>) => Promise<Gateway>
}

/** A namespace that no gateway watches, so creates in it only cost the API server. */
export const BARE_NAMESPACE = 'bare'

const GATEWAY = 'tintype-api-gateway'
/** `fsync`: etcd waits for the disk. `profile`: directory for processor profiles of the gateways. */
export interface StageOptions {
  fsync: boolean
  profile: string | undefined
}

/** Starts everything, calls `act`, and stops everything, also after an interruption. */
export async function withStage<T>({ fsync, profile }: StageOptions, act: (stage: Stage) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-bench-'))
  return undoing(
    () => rm(directory, { recursive: true, force: true }),
    async () => {
      const program = path.join(directory, 'program')
      const account = path.join(directory, 'account')
      await bundleProgram('api-gateway', program)
      const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(profile)}`]
      const node = [process.execPath, ...NODE_FLAGS, ...profiling, path.join(program, 'app/main.mjs')]
      const command = withAccount(account, node)
      const world = await startWorld({ fsync, command })
      return undoing(world.stop, () => onStage(world, account, act))
    },
  )
}

async function onStage<T>(world: World, account: string, act: (stage: Stage) => Promise<T>): Promise<T> {
  const access = await accessFromKubeconfig(world.plane.kubeconfigPath)
  const admin = new KubeHttp(access)
  try {
    const { tls } = await access.credentials()
    await makeServiceAccount(admin, account, String(tls.ca))
    await new Resource(admin, namespaces).create({ metadata: { name: BARE_NAMESPACE } })
    const { hostname, port } = new URL(world.plane.url)
    const many = '1000000'
    // Nothing captures here, so created objects stay queued.
    const queue = { TINTYPE_MAX_QUEUED: many, TINTYPE_MAX_QUEUED_PER_ACCOUNT: many }
    const env = { ...NODE_ENVIRONMENT, ...queue, KUBECONFIG: '', KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
    return await act({ world, admin, startGateway: (more = {}) => world.startGateway({ ...env, ...more }) })
  } finally {
    await admin.close()
  }
}

/** A service account with the gateway's rights, and its files. */
async function makeServiceAccount(admin: KubeHttp, directory: string, authority: string): Promise<void> {
  const accounts = new Resource(admin, serviceAccounts)
  await accounts.create({ metadata: { name: GATEWAY } })
  const bindings = defineResource<KubeObject>({
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: 'rolebindings',
    kind: 'RoleBinding',
    namespaced: true,
  })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: GATEWAY }
  const subjects = [{ kind: 'ServiceAccount', name: GATEWAY, namespace: admin.namespace }]
  await new Resource(admin, bindings).create({ metadata: { name: `${GATEWAY}-pod` }, roleRef, subjects } as KubeObject)
  await writeServiceAccount(admin, { name: GATEWAY, directory, ca: authority })
}
