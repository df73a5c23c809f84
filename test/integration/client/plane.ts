import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { KubeHttp, type KubeHttpOptions } from '../../../crds/client/kube-http.ts'
import { type Ends, openTestPlane, type TestPlaneOptions } from '../../support/processes/own-plane.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'

/**
 * Opens a real API server with Tintype's kinds, and a namespace for one test file, until the end of that file. Without `own`, other test files use the
 * API server, too.
 */
export async function startPlane(t: Ends, options: Pick<TestPlaneOptions, 'own'> = {}) {
  const plane = await openTestPlane(options)
  t.teardown(plane.stop)
  const access = await accessPlane(plane.kubeconfigPath)
  return {
    ...plane,
    access,
    /** An administrator's client for the API server or for a proxy in front of it. It is closed at the end of the test. */
    connect(t: Ends, { server = access.server, ...options }: KubeHttpOptions & { server?: string } = {}) {
      const http = new KubeHttp({ ...access, server }, options)
      t.teardown(() => http.close())
      return http
    },
    /** Compacts etcd's history, as the API server does every five minutes. */
    compact: () => compactStore(plane.etcdUrl),
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
