// Operators and gateways as in their images: bundled, with the flags of the images, and with service account files instead of a kubeconfig.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { findFreePorts } from '../../../cluster/host/ports.ts'
import { bundleProgram } from '../../../cluster/images/bundle.ts'
import { NODE_ENVIRONMENT, NODE_FLAGS, withAccount } from '../../../support/processes/as-in-pod.ts'

/** A running program. */
export interface Program {
  process: ChildProcess
  pid: number
  /** Port of /metrics and the probes. */
  metricsUrl: string
  /** The last part of its output. */
  output: () => string
  /** All lines of its log that contain a text. */
  countOutput: (text: string) => number
  /** Resolves to the exit code, or null after a signal. */
  exited: Promise<number | null>
  end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** Settings to start a program. */
export interface ProgramPlan {
  name: 'operator' | 'api-gateway'
  /** Directory of bundles and service account files. */
  directory: string
  environment: Record<string, string>
  /** Node flags in addition to those of the image. */
  flags?: readonly string[]
  /** Main file of another version's bundle. Default: this version, bundled on first use. */
  main?: string | undefined
}

const MAX_OUTPUT = 200_000

const bundles = new Map<string, Promise<string>>()

function bundleOf(name: ProgramPlan['name'], directory: string): Promise<string> {
  const place = path.join(directory, `bundle-${name}`)
  const bundle = bundles.get(place) ?? bundleProgram(name, place).then(() => path.join(place, 'app/main.mjs'))
  bundles.set(place, bundle)
  return bundle
}

/** Starts a program. The caller must wait until it is ready. */
export async function startProgram({ name, directory, environment, flags = [], ...plan }: ProgramPlan): Promise<Program> {
  const main = plan.main ?? (await bundleOf(name, directory))
  const [metricsPort = 0] = await findFreePorts(1)
  const node = [process.execPath, ...NODE_FLAGS, ...flags, main]
  const [command, ...args] = withAccount(path.join(directory, `account-${name}`), node)
  const env = { PATH: process.env.PATH ?? '', HOME: '/tmp', TINTYPE_METRICS_PORT: String(metricsPort), ...NODE_ENVIRONMENT, ...environment }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
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
