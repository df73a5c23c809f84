/**
 * Environment of the REST benchmarks: a separate API server, an etcd that waits for the disk, MinIO, and gateways as in their image:
 * bundled, with its flags, with service account files instead of a kubeconfig. There is no operator, so nothing is captured.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { accessFromKubeconfig } from '../../../crds/client/cluster-access.ts'
import { namespaces } from '../../../crds/client/core-resources.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { bundleProgram } from '../../cluster/images/bundle.ts'
import { type Gateway, startWorld, type World } from '../../integration/api-gateway/world.ts'
import { NODE_ENVIRONMENT, NODE_FLAGS } from '../../support/processes/as-in-pod.ts'
import { undoing } from '../report/undo.ts'

export interface Stage {
  world: World
  /** Connections with the rights of an administrator. */
  admin: KubeHttp
  startGateway: (env?: Record<string, string>) => Promise<Gateway>
}

/** A namespace that no gateway watches, so creates in it only cost the API server. */
export const BARE_NAMESPACE = 'bare'

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
      await bundleProgram('api-gateway', program)
      const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(profile)}`]
      const node = [process.execPath, ...NODE_FLAGS, ...profiling, path.join(program, 'app/main.mjs')]
      const world = await startWorld({ fsync, command: node })
      return undoing(world.stop, () => onStage(world, act))
    },
  )
}

async function onStage<T>(world: World, act: (stage: Stage) => Promise<T>): Promise<T> {
  const admin = new KubeHttp(await accessFromKubeconfig(world.plane.kubeconfigPath))
  try {
    await new Resource(admin, namespaces).create({ metadata: { name: BARE_NAMESPACE } })
    const many = '1000000'
    // Nothing captures here, so created objects stay queued.
    const queue = { TINTYPE_MAX_QUEUED: many, TINTYPE_MAX_QUEUED_PER_ACCOUNT: many }
    const env = { ...NODE_ENVIRONMENT, ...queue }
    return await act({ world, admin, startGateway: (more = {}) => world.startGateway({ ...env, ...more }) })
  } finally {
    await admin.close()
  }
}
