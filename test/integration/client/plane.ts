import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { accessFromKubeconfig, type ClusterAccess } from '../../../crds/client/cluster-access.ts'
import { KubeHttp, type KubeHttpOptions } from '../../../crds/client/kube-http.ts'
import { findFreePorts } from '../../cluster/host/ports.ts'
import { type ControlPlane, startControlPlane } from '../../cluster/kubernetes/control-plane.ts'
import { createKinds } from '../../support/processes/create-kinds.ts'
import type { Ends } from '../../support/processes/own-plane.ts'

/** A real API server and its store for one test file. */
export type Plane = ControlPlane & {
  access: ClusterAccess
  /** An administrator's client for the API server or for a proxy in front of it. It is closed at the end of the test. */
  connect(t: Ends, options?: KubeHttpOptions & { server?: string }): KubeHttp
  /** Compacts etcd's history, as the API server does every five minutes. */
  compact(): Promise<void>
  /** Applies Tintype's CRDs and waits until they are served. */
  applyKinds(): Promise<void>
}

/** Starts a control plane that is stopped at the end of the test file. */
export async function startPlane(t: Ends): Promise<Plane> {
  const directory = await mkdtemp(join(tmpdir(), 'tintype-client-'))
  const [etcd, etcdPeer, apiServer] = (await findFreePorts(3)) as [number, number, number]
  const plane = await startControlPlane({ directory, ports: { etcd, etcdPeer, apiServer } })
  t.teardown(async () => {
    await plane.stop()
    await rm(directory, { recursive: true, force: true })
  })
  const access = await accessFromKubeconfig(plane.kubeconfigPath)
  return {
    ...plane,
    access,
    connect(t, { server = access.server, ...options } = {}) {
      const http = new KubeHttp({ ...access, server }, options)
      t.teardown(() => http.close())
      return http
    },
    compact: () => compactStore(`http://127.0.0.1:${etcd}`),
    async applyKinds() {
      // An error at the top level of a test file ends the process without teardown.
      const http = new KubeHttp(access)
      try {
        await createKinds(http)
      } catch (error) {
        await plane.stop()
        throw error
      } finally {
        await http.close()
      }
    },
  }
}

async function compactStore(etcd: string): Promise<void> {
  const post = async (path: string, body: object) => {
    const response = await fetch(`${etcd}${path}`, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`etcd responded with ${response.status} to ${path}: ${await response.text()}`)
    return response.json() as Promise<{ header: { revision: string } }>
  }
  const { header } = await post('/v3/kv/range', { key: Buffer.from('a').toString('base64') })
  await post('/v3/kv/compaction', { revision: header.revision, physical: true })
}

/** A TCP proxy on loopback in front of a server. It counts connections, and can drop or refuse traffic. */
export async function startProxy(t: Test, target: string) {
  const { hostname, port } = new URL(target)
  const pairs = new Set<{ inner: Socket; outer: Socket }>()
  let connections = 0
  let isRefusing = false
  const server = createServer((inner) => {
    connections++
    if (isRefusing) {
      inner.destroy()
      return
    }
    const pair = { inner, outer: connect(Number(port), hostname) }
    pairs.add(pair)
    for (const [from, to] of [
      [pair.inner, pair.outer],
      [pair.outer, pair.inner],
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const { inner, outer } of pairs) {
      inner.resetAndDestroy()
      outer.destroy()
    }
  }
  t.teardown(() => {
    cut()
    server.close()
  })
  return {
    url: `https://127.0.0.1:${(server.address() as { port: number }).port}`,
    connections: () => connections,
    /** Resets all connections. */
    cut,
    /** From now on, open connections drop all traffic: they look alive but are not. */
    swallow() {
      for (const { inner, outer } of pairs) {
        inner.unpipe(outer)
        outer.unpipe(inner)
        outer.resume()
        inner.resume()
      }
    },
    /** Whether new connections are closed at once. */
    refuse(value: boolean) {
      isRefusing = value
    },
  }
}
