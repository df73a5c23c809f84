import * as http from 'node:http'
import * as https from 'node:https'
import type { Client } from 'minio'
import type { StorageAccess } from '../../src/crypto/presign.ts'
import { assertMayWrite, FencedError, type MayWrite } from '../../src/runtime/fence.ts'

/** Maximum bytes of one response to the minio client. A page of keys has at most 2 MiB, and files are not read with this client. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024

type Transport = Pick<typeof http, 'request'>

/**
 * Loads the minio client on first use. With its imports it needs a tenth of the operator's memory, and an operator that only dispatches
 * captures does not need it.
 */
export function lazyBucketClient(
  access: Omit<StorageAccess, 'bucket'>,
  timeoutMilliseconds: number,
  mayWrite?: MayWrite,
): () => Promise<Client> {
  let client: Promise<Client> | undefined
  /** The key that the client signs with. Keys can change while the program runs. */
  let keyOfClient: string | undefined
  const load = async () => {
    const minio = await import('minio')
    return new minio.Client(clientOptions(access, timeoutMilliseconds, mayWrite))
  }
  return () => {
    const key = `${access.accessKey} ${access.secretKey}`
    if (client === undefined || key !== keyOfClient) client = load()
    keyOfClient = key
    return client
  }
}

function clientOptions(
  { endpoint, region, accessKey, secretKey, pathStyle = true }: Omit<StorageAccess, 'bucket'>,
  timeoutMilliseconds: number,
  mayWrite?: MayWrite,
) {
  const url = new URL(endpoint)
  const useSSL = url.protocol === 'https:'
  return {
    // The client adds the brackets of an IPv6 address by itself.
    endPoint: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (useSSL ? 443 : 80),
    useSSL,
    region,
    accessKey,
    secretKey,
    pathStyle,
    transport: withLimits(useSSL ? https.request : http.request, timeoutMilliseconds, mayWrite),
    // The callers retry. The client's own retries write to the console.
    retryOptions: { disableRetry: true },
  }
}

/** The minio client has no timeout and no size limit. */
const withLimits = (request: Transport['request'], timeout: number, mayWrite: MayWrite = () => true): Transport => ({
  // The client uses only this overload.
  request: ((options: http.RequestOptions, onResponse: (response: http.IncomingMessage) => void) => {
    const isWrite = options.method !== 'GET'
    if (isWrite) assertMayWrite(mayWrite)
    const call = request({ ...options, timeout }, (response) => {
      limitBytes(response)
      onResponse(response)
    })
    call.once('socket', (socket) => {
      // A new connection takes a while before the request is sent.
      if (isWrite && socket.connecting) socket.once('connect', () => mayWrite() || call.destroy(new FencedError()))
    })
    return call.on('timeout', () => call.destroy(new Error(`no response in ${timeout} ms`)))
  }) as Transport['request'],
})

function limitBytes(response: http.IncomingMessage): void {
  const push = response.push.bind(response)
  let bytes = 0
  response.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    bytes += chunk?.length ?? 0
    if (bytes <= MAX_RESPONSE_BYTES) return push(chunk, encoding)
    response.destroy(new Error(`the store returned more than ${MAX_RESPONSE_BYTES} bytes`))
    return false
  }
}
