import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { cluster, kubectl, kubectlJson } from '../support/cluster/environment.ts'
import { NAMESPACE } from '../support/cluster/tested-release.ts'
import type { LoopOrder, LoopResult } from './bare-loop.ts'

/** The bare loop in its pod. */
export interface BarePod {
  name: string
  image: string
  run: (order: LoopOrder) => Promise<LoopResult>
  close: () => Promise<void>
}

/** The name contains the process id, because another run may be active. */
const NAME = `bench-bare-loop-${process.pid}`
const READY_SECONDS = 120
const END_MILLISECONDS = 5_000

/** Starts a pod with the pool's image, resources and sandbox, and the loop in it. */
export async function openBarePod(pool: RunnerPool): Promise<BarePod> {
  const manifest = buildPod(pool)
  await removePod()
  await must(['apply', '-f', '-'], JSON.stringify(manifest))
  await must(['wait', `pod/${NAME}`, '--for=condition=Ready', `--timeout=${READY_SECONDS}s`])
  const program = await readFile(path.join(import.meta.dirname, 'bare-loop.ts'), 'utf8')
  const node = ['node', '--input-type=module-typescript', '--eval', program]
  const child = spawn('kubectl', ['-n', NAMESPACE, 'exec', '-i', NAME, '--', ...node], {
    env: cluster.shell,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    name: NAME,
    image: pool.spec.podTemplate.image,
    run: (order) => ask(child, answers, order),
    close: async () => {
      child.stdin.end()
      if (child.exitCode === null) await Promise.race([once(child, 'exit'), sleep(END_MILLISECONDS)])
      await removePod()
    },
  }
}

async function ask(child: ChildProcessByStdio<Writable, Readable, null>, answers: AsyncIterator<string>, order: LoopOrder) {
  child.stdin.write(`${JSON.stringify(order)}\n`)
  const { value, done } = await answers.next()
  if (done) throw new Error('the bare loop has exited')
  const answer = JSON.parse(value) as LoopResult | { error: string }
  if ('error' in answer) throw new Error(`the bare loop failed: ${answer.error}`)
  return answer
}

const removePod = async (): Promise<void> => {
  await kubectl(['delete', 'pod', NAME, '--ignore-not-found', '--grace-period=1', '--wait=true'])
}

async function must(args: readonly string[], input?: string): Promise<void> {
  const { code, stderr } = await kubectl(args, input)
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
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

/** The default pool. */
export const readPool = (): Promise<RunnerPool> => kubectlJson<RunnerPool>(['get', 'runnerpool', 'default'])
