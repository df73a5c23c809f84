/** Runs the program of an S3 store on loopback, for integration tests. */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endWithProcess, findEnd, freezeDaemon, killDaemon, signalDaemon, startDaemon } from '../host/daemons.ts'
import { waitFor } from '../host/wait.ts'

export interface StoreServer {
  /** `http://<host>:<port>` */
  endpoint: string
  port: number
  accessKey: string
  secretKey: string
  /** Stops and continues the process. To a client the store seems to hang. */
  freeze: () => Promise<void>
  thaw: () => Promise<void>
  /** Restarts the server on the same port and files. It is down for this many milliseconds, or until this promise settles. */
  restart: (down?: number | Promise<unknown>) => Promise<void>
  stop: () => Promise<void>
}

export interface StoreProgram extends Pick<StoreServer, 'port' | 'accessKey' | 'secretKey'> {
  /** Directory of its logs. The caller removes it. */
  directory: string
  name: string
  /** IP address that it listens on. Default: 127.0.0.1 */
  host?: string | undefined
  command: string
  args: readonly string[]
  environment: Readonly<Record<string, string>>
  /** Path that responds with 200 when the store is ready. */
  readyPath: string
  /** Time for the start. */
  timeoutMilliseconds: number
}

/** `127.0.0.1:9000`, or `[::1]:9000`. */
export const toAuthority = (host = '127.0.0.1', port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Starts the program. Resolves when the store is ready. */
export async function runStore({ directory, readyPath, timeoutMilliseconds, ...program }: StoreProgram): Promise<StoreServer> {
  const { name, host, command, args, environment, port, accessKey, secretKey } = program
  const place = { records: path.join(directory, 'daemons'), logs: path.join(directory, 'log') }
  const endpoint = `http://${toAuthority(host, port)}`
  const start = async () => {
    await startDaemon(place, { name, command, args: [...args], environment: { ...environment } })
    await waitFor(name, () => isReady(`${endpoint}${readyPath}`), {
      timeoutMilliseconds,
      intervalMilliseconds: 50,
      findFailure: () => findEnd(place, name),
    })
  }
  await mkdir(place.records, { recursive: true })
  const forget = endWithProcess(place)
  await start()
  const restart = async (down: number | Promise<unknown> = 0) => {
    await killDaemon(place, name)
    await (typeof down === 'number' ? sleep(down) : down)
    await start()
  }
  const stop = async () => {
    await killDaemon(place, name)
    forget()
  }
  const freeze = () => freezeDaemon(place, name)
  const thaw = () => signalDaemon(place, name, 'SIGCONT')
  return { endpoint, port, accessKey, secretKey, freeze, thaw, restart, stop }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}
