/** Stops the embedded cluster. Ends only processes that it started, and removes only its own mounts, namespace and cgroups. */
import { readFile, rm } from 'node:fs/promises'
import { isDaemonRunning, signalDaemon, stopDaemon } from '../host/daemons.ts'
import { run, succeeds } from '../host/exec.ts'
import { clusterDirectory, network, paths, runDirectory } from '../host/state.ts'
import { StepError } from '../host/steps.ts'
import { removeCgroups } from './cgroups.ts'
import { place } from './network.ts'
import { ctr } from './node.ts'

/** Stops all programs. Stored data remains for the next start. */
export async function stopNode(): Promise<number> {
  const first = ['loopback-proxy', 'kubelet', 'kube-proxy', 'coredns', 'kube-scheduler', 'kube-controller-manager']
  const stopped = await Promise.all(first.map((name) => stopDaemon(place, name)))
  await removeContainers()
  await signalDaemon(place, 'kube-apiserver', 'SIGKILL') // after SIGTERM it would wait up to a minute for open watches; etcd has its state
  const rest = ['containerd', 'kube-apiserver', 'etcd', 'slirp4netns']
  stopped.push(...(await Promise.all(rest.map((name) => stopDaemon(place, name)))))
  await unmountAll()
  await run('sh', ['-c', `[ ! -e ${network.namespacePath} ] || ip netns delete ${network.namespace}`])
  await removeCgroups()
  await requireUnmounted()
  await rm(paths.kubelet, { recursive: true, force: true })
  await rm(runDirectory, { recursive: true, force: true })
  return stopped.filter(Boolean).length
}

/** Deletes the cluster's data: store, volumes, logs and loaded images. Built programs and images stay in the cache for the next cluster. */
export async function purge(): Promise<void> {
  await rm(clusterDirectory, { recursive: true, force: true })
}

/** Deletes containers by force. After the next start the kubelet creates their pods again. */
async function removeContainers(): Promise<void> {
  if (!(await isDaemonRunning(place, 'containerd'))) return
  const list = async (kind: string) => (await ctr([kind, 'list', '-q'])).split('\n').filter(Boolean)
  const quietly = (args: readonly string[]) => ctr(args).catch(() => '') // it may have ended since it was listed
  await Promise.all((await list('tasks')).map((task) => quietly(['tasks', 'delete', '--force', task])))
  await Promise.all((await list('containers')).map((container) => quietly(['containers', 'delete', container])))
}

/** Mount points below our directories, deepest first, as /proc/mounts writes them (spaces as octal). */
export function ownMounts(mounts: string, directories: readonly string[]): string[] {
  const points = mounts
    .split('\n')
    .flatMap((line) => line.split(' ')[1]?.replaceAll(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8))) ?? [])
  return points.filter((point) => directories.some((directory) => point.startsWith(`${directory}/`))).sort((a, b) => b.length - a.length)
}

/** @throws StepError when something is still mounted, because removing files would delete files on the mounted file system. */
async function requireUnmounted(): Promise<void> {
  const [left] = await findOwnMounts()
  if (left !== undefined)
    throw new StepError(`${left} is still mounted`, { remedy: `stop the processes that use it (fuser -vm ${left}), then try again` })
}

async function unmountAll(): Promise<void> {
  for (const point of await findOwnMounts()) if (!(await succeeds('umount', [point]))) await succeeds('umount', ['--lazy', point])
}

const findOwnMounts = async (): Promise<string[]> => ownMounts(await readFile('/proc/mounts', 'utf8'), [clusterDirectory, runDirectory])
