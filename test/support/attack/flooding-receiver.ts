import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createReceiverCertificate } from '../servers/https-receiver.ts'

/** Requests and connections of a flooding receiver so far. */
export interface FloodCounts {
  requests: number
  connections: number
  /** Connections that the client has not closed. */
  open: number
}

/**
 * Starts a webhook endpoint on loopback, in a process of its own. `${url}/<name>` floods as `FLOODS` of floods.ts describes it; other paths get 200.
 * @param directory for its certificates; the caller removes it
 */
export async function startFloodingReceiver(directory: string) {
  const { certificate, key, ca } = await createReceiverCertificate(directory)
  const program = fork(join(import.meta.dirname, 'flooding-server.ts'), [certificate, key])
  const [{ port }] = (await once(program, 'message')) as [{ port: number }]
  const counts = async () => {
    program.send('counts')
    const [seen] = (await once(program, 'message')) as [FloodCounts]
    return seen
  }
  return { url: `https://127.0.0.1:${port}`, ca, counts, end: () => program.disconnect() }
}
