import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import pino from 'pino'
import { capture } from '../../../capture-runner/src/capture/capture.ts'
import { createMemoryWatch } from '../../../capture-runner/src/runtime/memory-watch.ts'
import { type CaptureOrder, CaptureOrder as OrderSchema } from '../../../crds/src/dispatch/dispatch.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import type { CaptureResult } from '../../../crds/src/kinds/screenshot.ts'
import { artifactsOf } from '../../../crds/src/options/artifacts.ts'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { LOOPBACK_POLICY, openStudio } from '../../integration/capture-runner/stage/studio.ts'

// Captures and compares as a runner does, from the order to the stored files, with a real browser and a store in memory.

const CAPTURE_MILLISECONDS = 90_000
const MAX_BYTES = 100_000_000

/** A capture that completed. */
export interface Shot {
  id: string
  result: CaptureResult
}

export interface ShotOptions {
  options?: CaptureOptions
  /** The capture to compare with. */
  to?: Shot | undefined
  /** What the earlier run of the schedule learned. */
  moving?: CaptureOrder['moving']
}

export interface LocalRunner {
  /** Captures a page. @throws Error if the capture fails */
  shoot: (url: string, how?: ShotOptions) => Promise<Shot>
  close: () => Promise<void>
}

/** Files by their path. It must outlive the runners that use it. */
export async function openMemoryStore() {
  const files = new Map<string, Buffer>()
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    if (request.method === 'PUT') files.set(path, await buffer(request))
    const file = files.get(path)
    const etag = createHash('md5')
      .update(file ?? '')
      .digest('hex')
    response.writeHead(file ? 200 : 404, { etag: `"${etag}"` }).end(request.method === 'GET' ? file : undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    targetOf: (name: string) => ({ url: `http://127.0.0.1:${port}/${name}`, headers: {}, maxBytes: MAX_BYTES }),
    remove: (prefix: string) => {
      for (const path of files.keys()) if (path.startsWith(`/${prefix}`)) files.delete(path)
    },
    close: () => void server.close(),
  }
}

export type MemoryStore = Awaited<ReturnType<typeof openMemoryStore>>

/** Starts the browsers. */
export async function openLocalRunner(store: MemoryStore): Promise<LocalRunner> {
  const studio = await openStudio()
  const memory = createMemoryWatch({ limitBytes: undefined, log: pino({ level: 'silent' }) })
  const parts = { browsers: studio.browsers, policy: LOOPBACK_POLICY, memory, httpCache: studio.httpCache }
  return {
    close: studio.close,
    shoot: async (url, { options = {}, to, moving } = {}) => {
      const id = newId('scr', new Date())
      // As the runs of a schedule: the first one stores its text, and later ones compare theirs.
      const chosen: CaptureOptions = { ...options, ...(to ? { compareTo: to.id } : { saveText: true }) }
      const order: CaptureOrder = OrderSchema.parse({
        ...{ uid: id, name: id, namespace: 'default', accountName: 'default', attempt: 1, url, options: chosen },
        upload: store.targetOf(`${id}.picture`),
        artifacts: artifactsOf(chosen).map(({ type, extension }) => ({ type, upload: store.targetOf(`${id}.${extension}`) })),
        ...(to ? { baseline: baselineOf(store, to) } : {}),
        isWatched: true,
        ...(moving ? { moving } : {}),
        deadline: Date.now() + CAPTURE_MILLISECONDS,
      })
      const { outcome, error } = await capture(order, parts, AbortSignal.timeout(CAPTURE_MILLISECONDS))
      if (error) throw new Error(`${url}: ${error.message}`, { cause: error })
      return { id, result: outcome.result }
    },
  }
}

function baselineOf(store: MemoryStore, { id, result }: Shot): CaptureOrder['baseline'] {
  const { ignored, finalUrl, forms, engine } = result
  return { ...store.targetOf(`${id}.picture`), ignored, finalUrl, forms, engine, text: store.targetOf(`${id}.txt`) }
}
