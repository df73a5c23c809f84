import http from 'node:http'

// Requests whose bodies are invalid, huge or never end, on connections of their own.

/** A body as it is sent. */
export interface SentBody {
  bytes: Buffer
  headers?: Record<string, string>
  /** Content-Length, if the body never reaches it. Default: the length of the bytes. */
  declaredBytes?: number
  /** Sends each byte in an HTTP chunk of its own. */
  isInTinyChunks?: boolean
  /** After the bytes, sends one more byte each time this passes. */
  dripMilliseconds?: number
}

/** A response; status 0: the connection ended without one. */
export interface Response {
  status: number
  text: string
  retryAfter: string | undefined
}

interface Target {
  url: string
  method: string
  headers: Record<string, string>
}

const TIMEOUT_MILLISECONDS = 120_000
const PIECE_BYTES = 65_536
const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends a body, and stops when the response arrives. */
export function sendBody({ url, method, headers }: Target, body: SentBody): Promise<Response> {
  const { bytes, declaredBytes, isInTinyChunks = false, dripMilliseconds } = body
  const length: Record<string, string> = isInTinyChunks ? {} : { 'content-length': String(declaredBytes ?? bytes.length) }
  const all = { ...JSON_TYPE, ...length, ...headers, ...body.headers }
  return new Promise((resolve) => {
    let drip: NodeJS.Timeout | undefined
    const request = http.request(url, { method, agent: new http.Agent({ keepAlive: true }), headers: all, timeout: TIMEOUT_MILLISECONDS })
    const end = (response: Response): void => {
      clearInterval(drip)
      request.destroy()
      resolve(response)
    }
    request.on('response', (response) => {
      let text = ''
      const done = () => end({ status: response.statusCode ?? 0, text, retryAfter: response.headers['retry-after'] })
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', done).on('error', done)
    })
    request.on('timeout', () => end({ status: 0, text: 'no response', retryAfter: undefined }))
    request.on('error', (error) => end({ status: 0, text: error.message, retryAfter: undefined }))
    const write = async (): Promise<void> => {
      const size = isInTinyChunks ? 1 : PIECE_BYTES
      for (let start = 0; start < bytes.length && !request.destroyed; start += size) {
        if (!request.write(bytes.subarray(start, start + size))) await drained(request)
      }
      if (dripMilliseconds !== undefined) drip = setInterval(() => request.write(' '), dripMilliseconds)
      else if (declaredBytes === undefined) request.end()
      else request.flushHeaders()
    }
    void write()
  })
}

/** Resolves when more can be written, or when the connection has ended. */
function drained(request: http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      request.off('drain', end).off('close', end)
      resolve()
    }
    request.on('drain', end).on('close', end)
  })
}
