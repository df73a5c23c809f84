import http from 'node:http'
import type { ScreenshotRecord } from '@tintype/crds/records/record'
import { cluster } from '../support/cluster/environment.ts'

/** A complete response and the time of its end (`performance.now()`). */
export interface Reply {
  status: number
  body: Buffer
  at: number
}

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

  /** Requests a capture. Resolves at the 202. */
  async create(url: string): Promise<{ id: string; at: number }> {
    const reply = await this.request('POST', '/api/v1/screenshots', { body: { url } })
    if (reply.status !== 202) throw new Error(`create answered ${reply.status}: ${reply.body}`)
    return { id: (JSON.parse(reply.body.toString()) as { id: string }).id, at: reply.at }
  }

  /** Waits until it has finished. @throws when it failed */
  async completed(id: string): Promise<{ record: ScreenshotRecord; at: number }> {
    for (;;) {
      const reply = await this.request('GET', `/api/v1/screenshots/${id}?wait=25`)
      if (reply.status !== 200) throw new Error(`GET answered ${reply.status}: ${reply.body}`)
      const record = JSON.parse(reply.body.toString()) as ScreenshotRecord
      if (record.status === 'failed') throw new Error(`${id} failed: ${record.error?.code} ${record.error?.message}`)
      if (record.status === 'completed') return { record, at: reply.at }
    }
  }

  /** Requests a picture in one request, whose response is the file. */
  async picture(url: string): Promise<Reply> {
    const reply = await this.request('POST', '/api/v1/screenshots', { body: { url }, headers: { accept: 'image/*' } })
    if (reply.status !== 200) throw new Error(`a picture in one request returned ${reply.status}: ${reply.body.toString().slice(0, 400)}`)
    return reply
  }

  /** Downloads the file of a completed record. */
  async download({ download_url: url }: Pick<ScreenshotRecord, 'download_url'>): Promise<Buffer> {
    const { pathname, search } = new URL(url ?? '', this.#url)
    const reply = await this.request('GET', pathname + search)
    if (reply.status !== 200) throw new Error(`the download returned ${reply.status}`)
    return reply.body
  }

  async remove(id: string): Promise<void> {
    await this.request('DELETE', `/api/v1/screenshots/${id}`)
  }

  close(): void {
    this.#agent.destroy()
  }

  request(method: string, path: string, { body, headers = {} }: { body?: object; headers?: Record<string, string> } = {}): Promise<Reply> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const request = http.request(new URL(path, this.#url), {
      method,
      agent: this.#agent,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
        ...headers,
      },
    })
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks), at: performance.now() }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(text)
    return promise
  }
}
