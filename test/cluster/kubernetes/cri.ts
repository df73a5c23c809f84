import { type ClientHttp2Session, connect } from 'node:http2'
import { createConnection } from 'node:net'

/** RuntimeService.Version of the Kubernetes container runtime interface. The kubelet calls it when it starts, and ends if it fails. */
const VERSION_PATH = '/runtime.v1.RuntimeService/Version'
/** A gRPC message: no compression, length 0. All fields of a VersionRequest are optional. */
const EMPTY_MESSAGE = Buffer.alloc(5)
const OK = '0'
const TIMEOUT_MILLISECONDS = 2_000

/**
 * Whether the container runtime answers the kubelet. containerd answers its own client (`ctr`) some seconds earlier, when containers of the
 * last run are left.
 */
export async function isRuntimeReady(socket: string): Promise<boolean> {
  const session = connect('http://localhost', { createConnection: () => createConnection(socket) })
  try {
    return (await callVersion(session)) === OK
  } catch {
    return false
  } finally {
    session.destroy()
  }
}

/** The status that gRPC sends in the trailers, or in the headers if there is no message. */
function callVersion(session: ClientHttp2Session): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    session.on('error', reject)
    const call = session.request({ ':method': 'POST', ':path': VERSION_PATH, 'content-type': 'application/grpc', te: 'trailers' })
    call.setTimeout(TIMEOUT_MILLISECONDS, () => reject(new Error('the container runtime does not answer')))
    let status: string | undefined
    const read = (headers: Record<string, unknown>) => {
      if (typeof headers['grpc-status'] === 'string') status = headers['grpc-status']
    }
    call.on('response', read).on('trailers', read).on('error', reject)
    call.on('close', () => resolve(status))
    call.resume()
    call.end(EMPTY_MESSAGE)
  })
}
