import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { CliError, EXIT } from '../common/errors.ts'
import type { Environment } from './settings.ts'

// `kubectl tintype` without a URL: finds the gateway of a release through kubectl, forwards a local port to it, and reads the first API key.

const run = promisify(execFile)
const DEFAULT_NAMESPACE = 'tintype'
const GATEWAY = 'app.kubernetes.io/name=tintype,app.kubernetes.io/component=api-gateway'
const SERVICE_SUFFIX = '-api-gateway'
const HOW_TO_SET = 'Or set TINTYPE_URL and TINTYPE_API_KEY.'

export interface ForwardOptions {
  environment: Environment
  /** Default: `tintype`. */
  namespace: string | undefined
  /** Reads the first API key of the release. */
  wantsKey: boolean
  signal: AbortSignal
}

export interface Forward {
  url: string
  apiKey: string | undefined
  namespace: string
  stop: () => void
}

interface Service {
  metadata: { name: string }
  spec: { ports: { name?: string; port: number }[] }
}

/** Runs kubectl and returns its output. */
async function kubectl(args: readonly string[], { environment, signal }: ForwardOptions): Promise<string> {
  try {
    return (await run('kubectl', args, { env: environment as NodeJS.ProcessEnv, signal })).stdout
  } catch (error) {
    signal.throwIfAborted()
    const { code, stderr = '', message } = error as { code?: string | number; stderr?: string; message: string }
    if (code === 'ENOENT') throw new CliError(`kubectl is not installed. Install it. ${HOW_TO_SET}`, EXIT.unreachable)
    const reason = (stderr.trim().split('\n').at(-1) ?? '') || message
    throw new CliError(
      `kubectl failed: ${reason.replace(/\.$/, '')}. Check your kubectl context and its permissions. ${HOW_TO_SET}`,
      EXIT.unreachable,
    )
  }
}

async function findService(namespace: string, options: ForwardOptions): Promise<{ name: string; port: number }> {
  const output = await kubectl(['-n', namespace, 'get', 'services', '-l', GATEWAY, '-o', 'json'], options)
  const { items } = JSON.parse(output) as { items: Service[] }
  const [service, other] = items
  if (service === undefined) {
    throw new CliError(`the namespace ${namespace} has no Tintype. Name another one with --namespace. ${HOW_TO_SET}`, EXIT.unreachable)
  }
  if (other !== undefined) {
    throw new CliError(`the namespace ${namespace} has several releases of Tintype. Set TINTYPE_URL and TINTYPE_API_KEY.`, EXIT.unreachable)
  }
  const { ports } = service.spec
  return { name: service.metadata.name, port: (ports.find(({ name }) => name === 'http') ?? ports[0])?.port ?? 80 }
}

/** Administrators are asked to delete this Secret once they have stored the key. */
async function readFirstKey(namespace: string, service: string, options: ForwardOptions): Promise<string> {
  const secret = `${service.slice(0, -SERVICE_SUFFIX.length)}-initial-api-key`
  const args = ['-n', namespace, 'get', 'secret', secret, '--ignore-not-found', '-o', 'jsonpath={.data.api-key}']
  const encoded = await kubectl(args, options)
  if (encoded !== '') return Buffer.from(encoded, 'base64').toString('utf8').trim()
  throw new CliError(
    `the Secret ${secret} does not exist, because the first API key was stored elsewhere. Set TINTYPE_API_KEY.`,
    EXIT.unreachable,
  )
}

/** Resolves to the local port, once kubectl listens. */
function localPortOf(child: ChildProcess, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    let errors = ''
    const fail = (reason: string): void => {
      reject(signal.aborted ? signal.reason : new CliError(`kubectl port-forward failed: ${reason}. ${HOW_TO_SET}`, EXIT.unreachable))
    }
    child.stderr?.on('data', (chunk: Buffer) => {
      errors += chunk
    })
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk
      const [, port] = /^Forwarding from 127\.0\.0\.1:(\d+) /m.exec(output) ?? []
      if (port !== undefined) resolve(Number(port))
    })
    child.on('error', ({ message }) => fail(message))
    child.on('close', (code) => fail(errors.trim().split('\n').at(-1) || `it ended with ${code}`))
  })
}

/** Forwards a free local port to the gateway of the release in a namespace. */
export async function openForward(options: ForwardOptions): Promise<Forward> {
  const { environment, signal, wantsKey } = options
  const namespace = options.namespace ?? (environment.TINTYPE_NAMESPACE || DEFAULT_NAMESPACE)
  const { name, port } = await findService(namespace, options)
  const apiKey = wantsKey ? await readFirstKey(namespace, name, options) : undefined
  const args = ['-n', namespace, 'port-forward', '--address', '127.0.0.1', `service/${name}`, `:${port}`]
  const child = spawn('kubectl', args, { env: environment as NodeJS.ProcessEnv, stdio: ['ignore', 'pipe', 'pipe'] })
  const stop = (): void => {
    child.kill()
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    return { url: `http://127.0.0.1:${await localPortOf(child, signal)}`, apiKey, namespace, stop }
  } catch (error) {
    stop()
    throw error
  }
}
