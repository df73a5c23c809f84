/** A port on the host's loopback for a NodePort of the local cluster, as `npm start` opens one for its gateway (test/cluster/kubernetes/network.ts). */
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import path from 'node:path'
import { network, repository } from '../../../cluster/host/state.ts'
import { descriptorOf } from '../../../cluster/kubernetes/network.ts'

const PROGRAM = path.join(repository, 'test/cluster/kubernetes/loopback-proxy.ts')

/** A port that is reserved from the start, so that its URL can be a value of the chart, and that has a target later. */
export interface LoopbackPort {
  url: string
  /** Forwards connections to a NodePort from now on. */
  forwardTo: (nodePort: number) => void
  close: () => void
}

/** Opens a free port. The caller must close it. */
export async function openLoopbackPort(): Promise<LoopbackPort> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  let child: ChildProcess | undefined
  const forwardTo = (nodePort: number): void => {
    const args = [`--net=${network.namespacePath}`, process.execPath, PROGRAM, `${network.nodeAddress}:${nodePort}`]
    child = spawn('nsenter', args, { stdio: ['ignore', 'inherit', 'inherit', descriptorOf(server)] })
    server.close() // the program holds the socket now
  }
  const close = (): void => {
    server.close()
    child?.kill()
  }
  return { url: `http://127.0.0.1:${port}`, forwardTo, close }
}
