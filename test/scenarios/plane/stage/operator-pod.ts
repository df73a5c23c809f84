// An operator as a pod of the cluster: the pod object exists, and its status follows the process as with a kubelet.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Pod, pods } from '../../../../crds/client/core-resources.ts'
import type { KubeHttp } from '../../../../crds/client/kube-http.ts'
import { mergePatch } from '../../../../crds/client/patch.ts'
import { type NewObject, Resource } from '../../../../crds/client/resource.ts'
import type { Program } from './program.ts'

const CONTAINER = 'operator'
/** A kubelet inspects its processes once per second (PLEG), and then writes the status. */
const NOTICE_MILLISECONDS = 1_000

/** Creates the pod object before its process starts. */
export async function createOperatorPod(admin: KubeHttp, name: string): Promise<Pod> {
  return new Resource(admin, pods).create({
    metadata: { name, labels: { 'app.kubernetes.io/component': 'operator' } },
    spec: {
      serviceAccountName: 'tintype-operator',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        { name: CONTAINER, image: 'any', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
      ],
    },
  } as NewObject<Pod>)
}

/** Reports the end of the process, as a kubelet does. `isLost`: the node is lost, so nothing reports any more. */
export async function simulateKubelet(admin: KubeHttp, pod: Pod, program: Program, isLost: () => boolean): Promise<void> {
  const client = new Resource(admin, pods)
  const { name } = pod.metadata
  const write = (phase: string, state: object) =>
    client
      .patch(
        name,
        mergePatch({
          status: { phase, containerStatuses: [{ name: CONTAINER, ready: true, restartCount: 0, image: 'any', imageID: 'any', state }] },
        }),
        { subresource: 'status' },
      )
      .catch(() => undefined)
  const seconds = () => new Date().toISOString().replace(/\.\d+Z/, 'Z')
  await write('Running', { running: { startedAt: seconds() } })
  void program.exited.then(async (exitCode) => {
    await sleep(NOTICE_MILLISECONDS)
    if (!isLost()) await write('Failed', { terminated: { exitCode: exitCode ?? 137, startedAt: seconds(), finishedAt: seconds() } })
  })
}
