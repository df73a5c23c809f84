/** A MinIO server on loopback, for integration tests. The embedded cluster runs MinIO in a pod, from an image. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { endWithProcess, freezeDaemon, isDaemonRunning, logOf, signalDaemon, startDaemon, stopDaemon } from '../host/daemons.ts'
import { findFreePorts } from '../host/ports.ts'
import { repository } from '../host/state.ts'
import { waitFor } from '../host/wait.ts'
import { locatePrograms } from './programs.ts'

export interface Minio {
  /** `http://127.0.0.1:<port>` */
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

export interface MinioOptions {
  /** Directory of its files. The caller removes it. */
  directory: string
  port?: number
  /** `upstream`: without the patches and the chart's settings, to verify that tests of the patches fail without them. */
  build?: 'ours' | 'upstream'
}

/** Starts MinIO with the settings that the chart gives it. */
export async function startMinio({ directory, port, build = 'ours' }: MinioOptions): Promise<Minio> {
  const place = { records: path.join(directory, 'daemons'), logs: path.join(directory, 'log') }
  const files = path.join(directory, 'files')
  const chosen = port ?? (await findFreePorts(1))[0]!
  const endpoint = `http://127.0.0.1:${chosen}`
  const accessKey = 'tintype'
  const secretKey = randomBytes(24).toString('base64url')
  await mkdir(files, { recursive: true })
  const programs = await locatePrograms()
  const program = path.join(build === 'ours' ? programs.minio : programs.upstreamMinio, 'minio')
  const settings = build === 'ours' ? await readMinioSettings() : { MINIO_BROWSER: 'off' }
  const start = async () => {
    await startDaemon(place, {
      name: 'minio',
      command: program,
      args: ['server', '--address', `127.0.0.1:${chosen}`, '--console-address', '127.0.0.1:0', files],
      environment: { ...settings, MINIO_ROOT_USER: accessKey, MINIO_ROOT_PASSWORD: secretKey, HOME: directory },
    })
    await waitFor('MinIO', () => isLive(endpoint), {
      timeoutMilliseconds: 180_000,
      intervalMilliseconds: 50,
      findFailure: async () => ((await isDaemonRunning(place, 'minio')) ? undefined : `MinIO ended: see ${logOf(place, 'minio')}`),
    })
  }
  const kill = async () => {
    await signalDaemon(place, 'minio', 'SIGKILL') // also ends a frozen process
    await stopDaemon(place, 'minio')
  }
  await mkdir(place.records, { recursive: true })
  const forget = endWithProcess(place)
  await start()
  const restart = async (down: number | Promise<unknown> = 0) => {
    await kill()
    await (typeof down === 'number' ? sleep(down) : down)
    await start()
  }
  const stop = async () => {
    await kill()
    forget()
  }
  const freeze = () => freezeDaemon(place, 'minio')
  const thaw = () => signalDaemon(place, 'minio', 'SIGCONT')
  return { endpoint, port: chosen, accessKey, secretKey, freeze, thaw, restart, stop }
}

/** Environment variables that the chart sets for the bundled store. */
export async function readMinioSettings(): Promise<Record<string, string>> {
  return parse(await readFile(path.join(repository, 'charts/tintype/files/minio.yaml'), 'utf8')) as Record<string, string>
}

async function isLive(endpoint: string): Promise<boolean> {
  try {
    return (await fetch(`${endpoint}/minio/health/ready`)).ok
  } catch {
    return false
  }
}
