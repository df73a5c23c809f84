/** A versitygw server on loopback, with its files in a directory: another S3 store that this project supports. */
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endWithProcess, freezeDaemon, isDaemonRunning, logOf, signalDaemon, startDaemon, stopDaemon } from '../host/daemons.ts'
import { findFreePorts } from '../host/ports.ts'
import { waitFor } from '../host/wait.ts'
import type { Minio } from './minio.ts'
import { ensureVersitygw } from './programs.ts'

/** Starts versitygw. It needs a file system with extended attributes. The caller removes the directory. */
export async function startVersitygw({ directory }: { directory: string }): Promise<Minio> {
  const program = await ensureVersitygw()
  const place = { records: path.join(directory, 'daemons'), logs: path.join(directory, 'log') }
  const [files, users] = [path.join(directory, 'files'), path.join(directory, 'users')]
  const [port = 0] = await findFreePorts(1)
  const endpoint = `http://127.0.0.1:${port}`
  const accessKey = 'tintype'
  const secretKey = randomBytes(24).toString('base64url')
  for (const each of [place.records, files, users]) await mkdir(each, { recursive: true })
  const options = ['--port', `127.0.0.1:${port}`, '--iam-dir', users, '--health', '/health', '--quiet', '--keep-alive']
  const start = async () => {
    await startDaemon(place, {
      name: 'versitygw',
      command: program,
      args: [...options, 'posix', files],
      environment: { ROOT_ACCESS_KEY: accessKey, ROOT_SECRET_KEY: secretKey },
    })
    await waitFor('versitygw', () => isLive(endpoint), {
      timeoutMilliseconds: 60_000,
      intervalMilliseconds: 50,
      findFailure: async () =>
        (await isDaemonRunning(place, 'versitygw')) ? undefined : `versitygw ended: see ${logOf(place, 'versitygw')}`,
    })
  }
  const kill = async () => {
    await signalDaemon(place, 'versitygw', 'SIGKILL') // also ends a frozen process
    await stopDaemon(place, 'versitygw')
  }
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
  const freeze = () => freezeDaemon(place, 'versitygw')
  const thaw = () => signalDaemon(place, 'versitygw', 'SIGCONT')
  return { endpoint, port, accessKey, secretKey, freeze, thaw, restart, stop }
}

async function isLive(endpoint: string): Promise<boolean> {
  try {
    return (await fetch(`${endpoint}/health`)).ok
  } catch {
    return false
  }
}
