import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { ENVIRONMENT_FILE, NAMESPACE, TOOLS } from './tested-release.ts'

const run = promisify(execFile)

/** Environment that `npm start` writes for scripts and tests. */
export interface ClusterEnvironment {
  url: string
  apiKey: string
  /** Environment variables for kubectl and helm. */
  shell: NodeJS.ProcessEnv
}

/**
 * Reads `.tintype/env`, or the file of the release under test.
 * @throws with the remedy when the cluster was not started
 */
export function loadClusterEnvironment(): ClusterEnvironment {
  let text: string
  try {
    text = readFileSync(ENVIRONMENT_FILE, 'utf8')
  } catch (cause) {
    throw new Error('the cluster was not started: run `npm start` first', { cause })
  }
  const values = Object.fromEntries(
    [...text.matchAll(/^(?:export )?([A-Z_]+)=(.*)$/gm)].map(([, name, value = '']) => [name, value.replace(/^(['"])(.*)\1$/, '$2')]),
  )
  const { TINTYPE_URL: url, TINTYPE_API_KEY: apiKey } = values
  if (!url || !apiKey) throw new Error(`${ENVIRONMENT_FILE} lacks TINTYPE_URL or TINTYPE_API_KEY: run \`npm start\` again`)
  return {
    url,
    apiKey,
    // The directory exists only for the embedded cluster. For others the user's programs are used.
    shell: { ...process.env, ...values, PATH: `${TOOLS}:${process.env.PATH}` },
  }
}

let loaded: ClusterEnvironment | undefined
const environment = (): ClusterEnvironment => {
  loaded ??= loadClusterEnvironment()
  return loaded
}

/** The running cluster. It is read at first use, because unit tests import modules that use it without having a cluster. */
export const cluster: ClusterEnvironment = {
  get url() {
    return environment().url
  },
  get apiKey() {
    return environment().apiKey
  },
  get shell() {
    return environment().shell
  },
}

/** Arguments to impersonate the gateway in kubectl, because only it may create names that contain an id. */
export const AS_GATEWAY = ['--as', `system:serviceaccount:${NAMESPACE}:tintype-api-gateway`]

/** Runs kubectl. Resolves also for a non-zero exit code. `input` goes to standard input. */
export async function kubectl(args: readonly string[], input?: string) {
  const promise = run('kubectl', ['-n', NAMESPACE, ...args], { env: cluster.shell, maxBuffer: 64 * 2 ** 20, timeout: 120_000 })
  if (input !== undefined) promise.child.stdin?.end(input)
  try {
    const { stdout, stderr } = await promise
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string }
    return { code: typeof code === 'number' ? code : 1, stdout, stderr }
  }
}

/** Runs kubectl, and resolves to its output. @throws when it fails */
export async function requireKubectl(args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await kubectl(args, input)
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** Runs kubectl and parses its JSON. @throws when it fails */
export const kubectlJson = async <T>(args: readonly string[]): Promise<T> => JSON.parse(await requireKubectl([...args, '-o', 'json'])) as T
