/**
 * The clients of the REST benchmarks, in a separate process, so that their cost does not count as the gateway's. Commands arrive on
 * standard input, one JSON object per line. Connections stay open between commands, as in a latency-sensitive program.
 */
import http from 'node:http'
import { createInterface } from 'node:readline'
import { accessFromKubeconfig } from '../../../crds/client/cluster-access.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import type { NewObject } from '../../../crds/client/resource.ts'
import { Resource, tintypeResource } from '../../../crds/client/resource.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'

/** Requests by concurrent clients: `count` requests, or as many as possible in `seconds`. */
interface Amount {
  atOnce: number
  count?: number
  seconds?: number
}

/** The same request to several gateways in rotation, optionally with several paths and bodies. */
export interface RestOrder extends Amount {
  way: 'rest'
  urls: readonly string[]
  /** API key. Signed links need none. */
  key?: string
  method: 'GET' | 'HEAD' | 'POST'
  paths: readonly string[]
  headers?: Readonly<Record<string, string>>
  body?: unknown
}

/** Screenshots created directly in the API server by the gateway's client library. */
export interface BareOrder extends Amount {
  way: 'bare'
  kubeconfig: string
  namespace: string
  spec: Screenshot['spec']
}

export type LoadOrder = RestOrder | BareOrder

/** Results: milliseconds of each request, milliseconds from the first to the last, and counts of responses. */
export interface LoadResult {
  milliseconds: number[]
  totalMilliseconds: number
  statuses: Record<string, number>
}

type Send = (n: number) => Promise<number>

const agent = new http.Agent({ keepAlive: true })
const apiServers = new Map<string, Promise<KubeHttp>>()

function request(url: URL, options: http.RequestOptions, body: string | undefined): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const sent = http.request(url, { ...options, agent }, (response) => {
    response.on('data', () => {})
    response.on('end', () => resolve(response.statusCode ?? 0))
    response.on('error', reject)
  })
  sent.on('error', reject)
  sent.end(body)
  return promise
}

function toGateways({ urls, paths, key, method, headers: given, body }: RestOrder): Send {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const length = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  const headers = { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...given, ...length }
  const targets = paths.flatMap((path) => urls.map((url) => new URL(path, url)))
  return (n) => request(targets[n % targets.length] as URL, { method, headers }, text)
}

async function toApiServer({ kubeconfig, namespace, spec }: BareOrder): Promise<Send> {
  const opened = apiServers.get(kubeconfig) ?? accessFromKubeconfig(kubeconfig).then((access) => new KubeHttp(access))
  apiServers.set(kubeconfig, opened)
  const screenshots = new Resource(await opened, tintypeResource<Screenshot>('Screenshot', 'screenshots'), { namespace })
  return async () => {
    const metadata = { name: toObjectName(newId('scr', new Date())) }
    await screenshots.create({ metadata, spec } as NewObject<Screenshot>)
    return 201
  }
}

async function carryOut(order: LoadOrder): Promise<LoadResult> {
  const send = order.way === 'rest' ? toGateways(order) : await toApiServer(order)
  const { atOnce, count = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY } = order
  const milliseconds: number[] = []
  const statuses: Record<string, number> = {}
  const started = performance.now()
  const isOver = (): boolean => performance.now() - started > seconds * 1_000
  let next = 0
  const client = async (): Promise<void> => {
    while (next < count && !isOver()) {
      const sent = performance.now()
      const status = await send(next++)
      milliseconds.push(performance.now() - sent)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, client))
  return { milliseconds, totalMilliseconds: performance.now() - started, statuses }
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await carryOut(JSON.parse(line) as LoadOrder).catch((error: unknown) => ({ error: String(error) }))
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
// Exits at the end of its input.
agent.destroy()
for (const opened of apiServers.values()) await (await opened).close()
