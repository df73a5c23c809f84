import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { paths } from '../../cluster/host/state.ts'
import { NAMESPACE } from '../cluster/tested-release.ts'

const run = promisify(execFile)

/** Runs ctr on the embedded cluster's containerd. */
const ctr = async (...args: string[]): Promise<string> => (await run('ctr', ['-a', paths.containerdSocket, '-n', 'k8s.io', ...args])).stdout

/**
 * Host process id of the first process of a container of the release under test. Tests use it to kill or freeze a process without Kubernetes.
 * @throws when the container does not run
 */
export async function findContainerProcess(pod: string, container: string): Promise<number> {
  const listed = await ctr(
    'containers',
    'ls',
    '-q',
    Object.entries({ 'pod.namespace': NAMESPACE, 'pod.name': pod, 'container.name': container })
      .map(([label, value]) => `labels."io.kubernetes.${label}"==${value}`)
      .join(),
  )
  const ids = new Set(listed.split('\n').filter(Boolean))
  for (const line of (await ctr('tasks', 'ls')).split('\n')) {
    const [id = '', pid, state] = line.trim().split(/\s+/)
    if (ids.has(id) && state === 'RUNNING') return Number(pid)
  }
  throw new Error(`container ${container} of pod ${pod} does not run`)
}
