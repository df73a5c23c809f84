import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { run } from '../../cluster/host/exec.ts'
import { paths } from '../../cluster/host/state.ts'
import { inside } from '../../cluster/kubernetes/network.ts'
import { ctr } from '../../cluster/kubernetes/node.ts'
import { cluster } from '../cluster/environment.ts'
import type { RunnerPod } from '../cluster/pools.ts'
import { NAMESPACE } from '../cluster/tested-release.ts'
import type { Arrival } from './attack-site.ts'

// Changes the network of one pod of a test from its node: IPv6, which the local cluster does not have, and another name server. The changes end with
// the pod.

/** Gives a pod an IPv6 address from which it reaches one IPv6 address of the node. */
export async function giveIpv6(pod: RunnerPod, own: string, to: string): Promise<void> {
  const { networkNamespace } = await sandboxOf(pod)
  const link = /dev (\S+)/.exec(await inside('ip', ['route', 'get', pod.ip]))?.[1] ?? ''
  const gateway = /inet6 (fe80:\S+)\//.exec(await inside('ip', ['-6', 'address', 'show', 'dev', link, 'scope', 'link']))?.[1] ?? ''
  await inside('ip', ['-6', 'route', 'replace', `${own}/128`, 'dev', link])
  const inPod = (args: string[]) => run('nsenter', [`--net=${networkNamespace}`, 'ip', '-6', ...args])
  await inPod(['address', 'replace', `${own}/128`, 'dev', 'eth0', 'nodad'])
  await inPod(['route', 'replace', `${to}/128`, 'via', gateway, 'dev', 'eth0', 'src', own])
}

/** Sets another name server for a pod. Open browsers still use the old one. */
export async function useNameServer(pod: RunnerPod, address: string): Promise<void> {
  const { id } = await sandboxOf(pod)
  // The file is mounted in the container, so it is overwritten, not replaced.
  const file = path.join(paths.containerd, 'io.containerd.grpc.v1.cri/sandboxes', id, 'resolv.conf')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replaceAll(/^nameserver .*$/gm, `nameserver ${address}`))
}

async function sandboxOf({ name, uid }: RunnerPod): Promise<{ id: string; networkNamespace: string }> {
  const isSandbox = `labels."io.kubernetes.pod.uid"==${uid},labels."io.cri-containerd.kind"==sandbox`
  const id = (await ctr(['containers', 'list', '--quiet', isSandbox])).trim()
  const { Spec } = JSON.parse(await ctr(['containers', 'info', id])) as {
    Spec: { linux: { namespaces: { type: string; path?: string }[] } }
  }
  const networkNamespace = Spec.linux.namespaces.find(({ type }) => type === 'network')?.path
  if (networkNamespace === undefined) throw new Error(`pod ${name} has no network namespace`)
  return { id, networkNamespace }
}

const LISTEN = (port: number) => `
require('node:http').createServer((request, response) => {
  console.log(JSON.stringify({ address: request.socket.localAddress.replace('::ffff:', ''), path: request.url }))
  response.setHeader('access-control-allow-origin', '*').end('reached')
}).on('upgrade', (request, socket) => {
  console.log(JSON.stringify({ address: socket.localAddress.replace('::ffff:', ''), path: request.url }))
  socket.destroy()
}).listen(${port}, '::', () => console.log('"ready"'))
process.stdin.on('end', () => process.exit()).resume()`

/** Listens in a pod on all addresses until the test ends. The array receives the arrivals. */
export async function listenInPod(t: Test, pod: string, port: number): Promise<Arrival[]> {
  const args = ['-n', NAMESPACE, 'exec', '-i', pod, '-c', 'runner', '--', 'node', '-e', LISTEN(port)]
  const child = spawn('kubectl', args, { env: cluster.shell, stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => {
    child.stdin.end()
    child.kill()
  })
  const lines = createInterface(child.stdout)
  await once(lines, 'line')
  const arrivals: Arrival[] = []
  lines.on('line', (line) => arrivals.push(JSON.parse(line) as Arrival))
  return arrivals
}
