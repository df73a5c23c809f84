import http from 'node:http'
import { API_VERSION, toObjectName } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ScreenshotRecord } from '@tintype/crds/records/record'
import { cluster, kubectl, kubectlJson } from '../../../support/cluster/environment.ts'
import { createApiKey } from '../../../support/cluster/keys.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import { bodyOf, type Reply, type Request, send } from '../../plane/stage/requests.ts'

/** A client with its own keep-alive connections, like a latency-sensitive program. */
export class Api {
  readonly #agent: http.Agent
  readonly #key: string
  readonly #url: string

  constructor({ key = cluster.apiKey, connections = 1, url = cluster.url }: { key?: string; connections?: number; url?: string } = {}) {
    this.#key = key
    this.#url = url
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  }

  /** Requests a path of the API. */
  request(path: string, request: Request = {}): Promise<Reply> {
    return send(new URL(path, this.#url).href, { key: this.#key, agent: this.#agent, ...request })
  }

  /** Requests a capture. Resolves at the 202. */
  async create(url: string): Promise<{ id: string; at: number }> {
    const reply = await this.request('/api/v1/screenshots', { method: 'POST', body: { url } })
    return { id: bodyOf<{ id: string }>(reply, 202).id, at: reply.at }
  }

  /** Waits until it has finished. @throws when it failed */
  async completed(id: string): Promise<{ record: ScreenshotRecord; at: number }> {
    for (;;) {
      const reply = await this.request(`/api/v1/screenshots/${id}?wait=25`)
      const record = bodyOf<ScreenshotRecord>(reply, 200)
      if (record.status === 'failed') throw new Error(`${id} failed: ${record.error?.code} ${record.error?.message}`)
      if (record.status === 'completed') return { record, at: reply.at }
    }
  }

  /** Requests a picture in one request, whose response is the file. */
  async picture(url: string): Promise<void> {
    const { status, text } = await this.request('/api/v1/screenshots', { method: 'POST', body: { url }, headers: { accept: 'image/*' } })
    if (status !== 200) throw new Error(`a picture in one request returned ${status}: ${text.slice(0, 400)}`)
  }

  /** Downloads the file of a completed record. */
  async download({ download_url: url }: Pick<ScreenshotRecord, 'download_url'>): Promise<Buffer> {
    const { pathname, search } = new URL(url ?? '', this.#url)
    const { status, bytes } = await this.request(pathname + search)
    if (status !== 200) throw new Error(`the download returned ${status}`)
    return bytes
  }

  /** Deletes captures, so that the next round starts in the same state. */
  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.request(`/api/v1/screenshots/${id}`, { method: 'DELETE' })
  }
}

/** The objects of finished captures, for the time of each stage. */
export async function readObjects(ids: readonly string[]): Promise<Screenshot[]> {
  const { items } = await kubectlJson<{ items: Screenshot[] }>(['get', 'screenshots'])
  const names = new Set(ids.map(toObjectName))
  return items.filter(({ metadata }) => names.has(metadata.name))
}

/** Creates temporary accounts. Returns their keys. */
export async function createAccounts(ends: Ends, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `bench-${process.pid}-${index + 1}`)
  ends.teardown(() => kubectl(['delete', '--ignore-not-found', ...names.flatMap((name) => [`account/${name}`, `apikey/${name}`])]))
  const keys: string[] = []
  for (const name of names) {
    const account = { apiVersion: API_VERSION, kind: 'Account', metadata: { name }, spec: { plan: 'scale', displayName: 'Benchmark' } }
    const { code, stderr } = await kubectl(['apply', '-f', '-'], JSON.stringify(account))
    if (code !== 0) throw new Error(`account ${name} cannot be made: ${stderr}`)
    keys.push(await createApiKey(name, name))
  }
  return keys
}
