import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy between a gateway and the object store. `onResponse` runs after the store has responded, and before the gateway receives it. */
export async function startStoreProxy(
  endpoint: string,
  onResponse: (method: string, path: string) => void,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const { hostname, port } = new URL(endpoint)
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const end = (): void => {
      outgoing.destroy()
    }
    // The headers stay unchanged, because the signature of the request covers Host.
    const forwarded = request({ hostname, port, method, path: url, headers }, (response) => {
      onResponse(method, url)
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.on('error', end).pipe(outgoing)
    })
    incoming.pipe(forwarded.on('error', end))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}
