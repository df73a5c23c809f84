/** A versitygw server on loopback, with its files in a directory: another S3 store that this project supports. */
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { findFreePorts } from '../host/ports.ts'
import type { MinioOptions } from './minio.ts'
import { ensureVersitygw } from './programs.ts'
import { runStore, type StoreServer, toAuthority } from './store-server.ts'

export type VersitygwOptions = Pick<MinioOptions, 'directory' | 'host' | 'environment'>

/** Starts versitygw. It needs a file system with extended attributes. The caller removes the directory. */
export async function startVersitygw({ directory, host, environment }: VersitygwOptions): Promise<StoreServer> {
  const command = await ensureVersitygw()
  const [files, users] = [path.join(directory, 'files'), path.join(directory, 'users')]
  const [port = 0] = await findFreePorts(1)
  const accessKey = 'tintype'
  const secretKey = randomBytes(24).toString('base64url')
  for (const each of [files, users]) await mkdir(each, { recursive: true })
  const options = ['--port', toAuthority(host, port), '--iam-dir', users, '--health', '/health', '--quiet', '--keep-alive']
  return runStore({
    directory,
    name: 'versitygw',
    command,
    args: [...options, 'posix', files],
    environment: { ROOT_ACCESS_KEY: accessKey, ROOT_SECRET_KEY: secretKey, ...environment },
    host,
    readyPath: '/health',
    timeoutMilliseconds: 60_000,
    ...{ port, accessKey, secretKey },
  })
}
