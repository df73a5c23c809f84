import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { leases } from '../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { findFreePorts } from '../../cluster/host/ports.ts'
import type { PodAccount } from '../../support/processes/as-in-pod.ts'
import { compileCache } from '../../support/processes/compile-cache.ts'
import { endWithTest } from '../../support/processes/own-children.ts'
import { parseLogLines } from '../../support/sources/log-lines.ts'

/** The operator as a process. */
export interface Program {
  process: ChildProcess
  /** Status and text of a path of its port for probes and metrics. */
  get: (path: string) => Promise<{ status: number; text: string }>
  isLeader: () => Promise<boolean>
  /** Resolves with the exit code, null after a signal. */
  end: (signal: NodeJS.Signals) => Promise<number | null>
  /** Its output so far. */
  output: () => string
}

/**
 * A lease that expires soon after a leader is killed. It is long enough that a machine that stalls for a few seconds does not end a term:
 * work in progress would be done twice.
 */
export const shortLease = {
  TINTYPE_LEASE_DURATION_MILLISECONDS: '6000',
  TINTYPE_LEASE_RENEW_DEADLINE_MILLISECONDS: '5000',
  TINTYPE_LEASE_RETRY_MILLISECONDS: '200',
}

/** Ends the leader as a crash does. Its lease, for which the next one would wait, is deleted as if it had expired. */
export async function killLeader(leader: Program, http: KubeHttp): Promise<void> {
  await leader.end('SIGKILL')
  await new Resource(http, leases).delete('tintype-operator')
}

const main = fileURLToPath(new URL('../../../operator/src/main.ts', import.meta.url))

/** Starts operator/src/main.ts, with a service account unless the environment has a kubeconfig. It is killed at the end of the test. */
export async function startProgram(t: Test, environment: Record<string, string>, account?: PodAccount): Promise<Program> {
  const [port = 0] = await findFreePorts(1)
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, ...compileCache, TINTYPE_METRICS_PORT: String(port), ...account?.environment, ...environment }
  const command = [process.execPath, main]
  const [program = '', ...args] = account ? account.wrap(command) : command
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  endWithTest(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: answer.status, text: await answer.text() }
  }
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exited
  }
  t.teardown(async () => {
    await end('SIGKILL')
    parseLogLines(output)
  })
  const isLeader = async () => /leader_election_master_status\{[^}]*\} 1/.test((await get('/metrics').catch(() => ({ text: '' }))).text)
  return { process: child, get, isLeader, end, output: () => output }
}
