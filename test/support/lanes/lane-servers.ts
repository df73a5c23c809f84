// Servers that the test files of a lane use one after the other. tap runs as many files at the same time as it has lanes. A file asks for the servers of
// its lane, and the first one starts them. They end with this process, even if it is killed.

import { mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { type ControlPlane, isReady, startControlPlane } from '../../cluster/kubernetes/control-plane.ts'
import { certificatePaths } from '../../cluster/kubernetes/pki.ts'
import { createKinds } from '../processes/create-kinds.ts'
import { accessPlane } from '../processes/plane-access.ts'
import { LANES_VARIABLE, type LanePlane } from './lane.ts'

/** What a killed run left here is removed by the next. */
const DIRECTORY = path.resolve('.tintype/test/lanes')

interface Lane {
  directory: string
  plane: ControlPlane
}

/** Serves lanes to the test files that this process starts from now on. The returned function ends all servers. */
export async function serveLanes(root = DIRECTORY): Promise<() => Promise<void>> {
  const lanes = new Map<string, Promise<Lane>>()
  let started = 0
  const remove = () => rmSync(root, { recursive: true, force: true })
  remove()
  mkdirSync(root, { recursive: true })
  process.once('exit', remove)

  async function start(): Promise<Lane> {
    const directory = path.join(root, `${++started}`)
    const plane = await startControlPlane({ directory })
    const http = new KubeHttp(await accessPlane(plane.kubeconfigPath))
    await createKinds(http).finally(() => http.close())
    return { directory, plane }
  }

  /** A lane whose API server a test has broken gets another. */
  async function open(name: string): Promise<Lane> {
    const before = await lanes.get(name)?.catch(() => undefined)
    if (before && (await isReady(before.plane.url, certificatePaths(path.join(before.directory, 'pki'), 'ca').certificate))) return before
    await before?.plane.stop()
    const lane = start()
    lanes.set(name, lane)
    return lane
  }

  const server = createServer((request, response) => {
    open(request.url ?? '').then(
      ({ directory, plane: { url, etcdUrl, programs } }) =>
        response.end(JSON.stringify({ directory, url, etcdUrl, programs } satisfies LanePlane)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.env[LANES_VARIABLE] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return async () => {
    delete process.env[LANES_VARIABLE]
    server.closeAllConnections()
    server.close()
    const open = await Promise.all([...lanes.values()].map((lane) => lane.catch(() => undefined)))
    await Promise.all(open.map((lane) => lane?.plane.stop()))
    process.off('exit', remove)
    remove()
  }
}
