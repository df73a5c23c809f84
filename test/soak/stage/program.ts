// Operators and gateways as they are in their images: bundled, with the images' flags, with a service account's files instead of a kubeconfig.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { serviceAccounts, type TokenRequest } from '../../../crds/client/core-resources.ts'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { bundleProgram } from '../../cluster/bundle.ts'
import { findFreePorts } from '../../cluster/ports.ts'

/** A process of ours. */
export interface Program {
  process: ChildProcess
  pid: number
  /** Port of /metrics and the probes. */
  metricsUrl: string
  /** The last of what it has written. */
  output: () => string
  /** All lines of its log that hold a text. */
  countOutput: (text: string) => number
  /** Resolves with the exit code, null after a signal. */
  exited: Promise<number | null>
  end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** What starts a program. */
export interface ProgramPlan {
  name: 'operator' | 'api-gateway'
  /** Directory of bundles, and of service accounts' files. */
  directory: string
  environment: Record<string, string>
  /** Flags of Node besides the image's. */
  flags?: readonly string[]
}

const FILES = '/var/run/secrets/kubernetes.io/serviceaccount'
const TOKEN_SECONDS = 14_400
const MAX_OUTPUT = 200_000

/** As in the Dockerfiles; and the heap that node allows itself in a container of the chart's 384 MiB: on a host with gigabytes it would collect late. */
const NODE_FLAGS = ['--max-semi-space-size=4', '--max-old-space-size=256']
const NODE_ENVIRONMENT = { MALLOC_ARENA_MAX: '2', NODE_ENV: 'production' }

/** What the kubelet does: the files of the service account where a pod has them; only the program sees the mount. */
const SCRIPT = `mount -t tmpfs tmpfs /run && mkdir -p ${FILES} && cp "$0"/* ${FILES}/ && exec "$@"`

const bundles = new Map<string, Promise<string>>()

function bundleOf(name: ProgramPlan['name'], directory: string): Promise<string> {
  const place = path.join(directory, `bundle-${name}`)
  const bundle = bundles.get(place) ?? bundleProgram(name, place).then(() => path.join(place, 'app/main.mjs'))
  bundles.set(place, bundle)
  return bundle
}

/** Writes the files of a service account of the release. */
export async function writeServiceAccount(
  admin: KubeHttp,
  { name, directory, ca }: { name: string; directory: string; ca: string },
): Promise<void> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: TOKEN_SECONDS } }
  const { status } = await admin.request<TokenRequest>({
    method: 'POST',
    path: new Resource(admin, serviceAccounts).pathOf(name, 'token'),
    body,
  })
  await mkdir(directory, { recursive: true })
  const files = { token: status?.token ?? '', 'ca.crt': ca, namespace: admin.namespace }
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(directory, file), text)
}

/** Starts a program; whether it is ready is for the caller to ask. */
export async function startProgram({ name, directory, environment, flags = [] }: ProgramPlan): Promise<Program> {
  const main = await bundleOf(name, directory)
  const [metricsPort = 0] = await findFreePorts(1)
  const node = [process.execPath, ...NODE_FLAGS, ...flags, main]
  const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', SCRIPT, path.join(directory, `account-${name}`), ...node]
  const env = { PATH: process.env.PATH ?? '', HOME: '/tmp', TINTYPE_METRICS_PORT: String(metricsPort), ...NODE_ENVIRONMENT, ...environment }
  const child = spawn('unshare', args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const counts = new Map<string, number>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      for (const [, message = ''] of chunk.matchAll(/"msg":"([^"]*)"/g)) counts.set(message, (counts.get(message) ?? 0) + 1)
      output = (output + chunk).slice(-MAX_OUTPUT)
    })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exited
  }
  const countOutput = (text: string) => [...counts].reduce((sum, [message, count]) => sum + (message.includes(text) ? count : 0), 0)
  return {
    process: child,
    pid: child.pid ?? 0,
    metricsUrl: `http://127.0.0.1:${metricsPort}`,
    output: () => output,
    countOutput,
    exited,
    end,
  }
}
