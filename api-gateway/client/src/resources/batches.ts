import { TintypeError } from '../common/errors.ts'
import type { Batch, BatchRequest, CallOptions, CreatedBatch, CreateOptions, WaitOptions } from '../common/types.ts'
import { newIdempotencyKey } from '../http/transport.ts'
import { Resource } from './resource.ts'
import { toCreateBody } from './screenshots.ts'

const DEFAULT_POLL_SECONDS = 2
const DEFAULT_WAIT_MILLISECONDS = 3_600_000

export interface BatchWaitOptions extends WaitOptions {
  /** Called with the batch each time it was read, also the last time. */
  onProgress?: ((batch: Batch) => void) | undefined
}

/** `tintype.batches` */
export class Batches extends Resource {
  /** Creates a screenshot for each of up to 100 URLs. Read `failed_jobs`: the quota may not cover all of them. */
  async create({ signal, idempotencyKey = newIdempotencyKey(), ...request }: BatchRequest & CreateOptions): Promise<CreatedBatch> {
    const body = toCreateBody(request)
    return (await this.transport.call<CreatedBatch>({ method: 'POST', path: '/screenshots/batch', body, idempotencyKey, signal })).body
  }

  /** Reads the progress and the records of a batch. */
  async get(id: string, { signal }: CallOptions = {}): Promise<Batch> {
    return (await this.#read(id, signal)).batch
  }

  /** Waits until no capture of the batch is pending, by default for an hour. */
  async wait(id: string, { waitTimeout = DEFAULT_WAIT_MILLISECONDS, onProgress, signal }: BatchWaitOptions = {}): Promise<Batch> {
    const { now, sleep } = this.transport.timing
    const deadline = now() + waitTimeout
    for (;;) {
      const { batch, pollSeconds } = await this.#read(id, signal)
      onProgress?.(batch)
      if (batch.pending === 0) return batch
      if (now() >= deadline) {
        const message = `${batch.pending} captures of ${id} did not end within ${waitTimeout / 1_000} seconds. Call batches.wait('${id}') to keep waiting, or raise waitTimeout.`
        throw new TintypeError(message, { code: 'WAIT_TIMEOUT', details: { id } })
      }
      await sleep(Math.min(pollSeconds * 1_000, deadline - now()), signal)
    }
  }

  async #read(id: string, signal: AbortSignal | undefined): Promise<{ batch: Batch; pollSeconds: number }> {
    const path = `/batches/${encodeURIComponent(id)}`
    const { body, headers } = await this.transport.call<{ data: Batch }>({ method: 'GET', path, signal })
    return { batch: body.data, pollSeconds: Number(headers.get('retry-after') ?? DEFAULT_POLL_SECONDS) }
  }
}
