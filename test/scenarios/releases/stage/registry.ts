/** A container registry on loopback: the one of CNCF Distribution, with its files in a directory. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { endWithProcess, isDaemonRunning, logOf, startDaemon, stopDaemon } from '../../../cluster/host/daemons.ts'
import { findFreePorts } from '../../../cluster/host/ports.ts'
import { waitFor } from '../../../cluster/host/wait.ts'
import { ensureTool, locateTool } from '../../../release/tools.ts'

export interface Registry {
  /** `127.0.0.1:<port>` */
  host: string
  /** Path of the file in which the registry stores a blob. */
  blobFile: (digest: string) => string
  stop: () => Promise<void>
}

/** Builds and starts the registry. The caller removes the directory. */
export async function startRegistry(directory: string): Promise<Registry> {
  await ensureTool('registry')
  const [port = 0] = await findFreePorts(1)
  const host = `127.0.0.1:${port}`
  const files = path.join(directory, 'files')
  const config = path.join(directory, 'config.json') // JSON is also YAML
  await mkdir(files, { recursive: true })
  const settings = {
    version: '0.1',
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: files } },
    http: { addr: host },
  }
  await writeFile(config, JSON.stringify(settings))
  const place = { records: path.join(directory, 'daemons'), logs: path.join(directory, 'log') }
  await mkdir(place.records, { recursive: true })
  const forget = endWithProcess(place)
  await startDaemon(place, { name: 'registry', command: locateTool('registry'), args: ['serve', config], environment: {} })
  await waitFor('the registry', () => isLive(`http://${host}/v2/`), {
    timeoutMilliseconds: 60_000,
    intervalMilliseconds: 50,
    findFailure: async () =>
      (await isDaemonRunning(place, 'registry')) ? undefined : `the registry ended: see ${logOf(place, 'registry')}`,
  })
  const stop = async () => {
    await stopDaemon(place, 'registry')
    forget()
  }
  const blobFile = (digest: string) => {
    const hash = digest.replace('sha256:', '')
    return path.join(files, 'docker/registry/v2/blobs/sha256', hash.slice(0, 2), hash, 'data')
  }
  return { host, blobFile, stop }
}

async function isLive(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}
