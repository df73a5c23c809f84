import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { cluster, kubectl } from '../../../support/cluster/environment.ts'
import { NAMESPACE } from '../../../support/cluster/tested-release.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import type { LoopOrder, LoopResult } from '../../engine/stage/bare-loop.ts'
import { VIEWPORT } from '../../engine/stage/contenders.ts'
import { openLines } from '../../harness/line-program.ts'
import { readPool } from './pool.ts'

/** The bare loop in its pod. */
export interface BarePod {
  name: string
  /** Captures pages once or more often. */
  run: (order: Omit<LoopOrder, 'viewport'>) => Promise<LoopResult>
}

/** The name contains the process id, because another run may be active. */
const NAME = `bench-bare-loop-${process.pid}`
const READY_SECONDS = 120
const PROGRAM = path.join(import.meta.dirname, '../../engine/stage/bare-loop.ts')

/** Starts a pod with the resources and the sandbox of the default pool's image, and the loop in it. */
export async function openBarePod(ends: Ends): Promise<BarePod> {
  const must = async (args: readonly string[], input?: string): Promise<void> => {
    const { code, stderr } = await kubectl(args, input)
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
  }
  ends.teardown(() => kubectl(['delete', 'pod', NAME, '--ignore-not-found', '--grace-period=1', '--wait=true']))
  await must(['apply', '-f', '-'], JSON.stringify(buildPod(await readPool())))
  await must(['wait', `pod/${NAME}`, '--for=condition=Ready', `--timeout=${READY_SECONDS}s`])
  const node = ['node', '--input-type=module-typescript', '--eval', await readFile(PROGRAM, 'utf8')]
  const loop = openLines<LoopOrder, LoopResult>('kubectl', ['-n', NAMESPACE, 'exec', '-i', NAME, '--', ...node], cluster.shell)
  ends.teardown(loop.close)
  return { name: NAME, run: (order) => loop.ask({ ...order, viewport: VIEWPORT }) }
}

/** The pod as the operator builds it for a runner (operator/src/runner/pod.ts), without labels, tokens and probes. */
function buildPod({ spec }: RunnerPool) {
  const { image, imagePullPolicy = 'IfNotPresent', resources, nodeSelector, tolerations } = spec.podTemplate
  const { localhostProfile } = spec.sandbox ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: NAME, labels: { 'app.kubernetes.io/name': 'tintype-bench' } },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(nodeSelector ? { nodeSelector } : {}),
      ...(tolerations ? { tolerations } : {}),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 10_001,
        runAsGroup: 10_001,
        fsGroup: 10_001,
        seccompProfile: localhostProfile === undefined ? { type: 'RuntimeDefault' } : { type: 'Localhost', localhostProfile },
      },
      containers: [
        {
          name: 'loop',
          image,
          imagePullPolicy,
          command: ['/usr/bin/tini', '--', 'sleep', 'infinity'],
          env: [{ name: 'BARE_SANDBOX', value: String(localhostProfile !== undefined) }],
          resources,
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
        },
      ],
      volumes: [{ name: 'tmp', emptyDir: {} }],
    },
  }
}
