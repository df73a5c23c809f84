/** A MinIO server on loopback, for integration tests. The embedded cluster runs MinIO in a pod, from an image. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { findFreePorts } from '../host/ports.ts'
import { repository } from '../host/state.ts'
import { buildUpstreamMinio, locatePrograms } from './programs.ts'
import { runStore, type StoreServer, toAuthority } from './store-server.ts'

export interface MinioOptions {
  /** Directory of its files. The caller removes it. */
  directory: string
  port?: number
  /** `upstream`: without the patches and the chart's settings, to verify that tests of the patches fail without them. */
  build?: 'ours' | 'upstream'
  /** IP address to listen on. Default: 127.0.0.1 */
  host?: string
  /** Additional environment variables. */
  environment?: Readonly<Record<string, string>>
}

/** Starts MinIO with the settings that the chart gives it. */
export async function startMinio({ directory, port: wanted, build = 'ours', host, environment }: MinioOptions): Promise<StoreServer> {
  const files = path.join(directory, 'files')
  const port = wanted ?? (await findFreePorts(1))[0]!
  const accessKey = 'tintype'
  const secretKey = randomBytes(24).toString('base64url')
  await mkdir(files, { recursive: true })
  const programs = await locatePrograms()
  if (build === 'upstream') await buildUpstreamMinio()
  const settings = build === 'ours' ? await readMinioSettings() : { MINIO_BROWSER: 'off' }
  return runStore({
    directory,
    name: 'minio',
    command: path.join(build === 'ours' ? programs.minio : programs.upstreamMinio, 'minio'),
    args: ['server', '--address', toAuthority(host, port), '--console-address', '127.0.0.1:0', files],
    environment: { ...settings, MINIO_ROOT_USER: accessKey, MINIO_ROOT_PASSWORD: secretKey, HOME: directory, ...environment },
    host,
    readyPath: '/minio/health/ready',
    timeoutMilliseconds: 180_000,
    ...{ port, accessKey, secretKey },
  })
}

/** Environment variables that the chart sets for the bundled store. */
export async function readMinioSettings(): Promise<Record<string, string>> {
  return parse(await readFile(path.join(repository, 'charts/tintype/files/minio.yaml'), 'utf8')) as Record<string, string>
}
