import { Client } from 'minio'
import type { StorageAccess } from '../../../crds/src/crypto/presign.ts'
import { type MinioOptions, startMinio } from '../../cluster/programs/minio.ts'
import type { startVersitygw } from '../../cluster/programs/versitygw.ts'
import { createDirectory } from '../directory.ts'
import type { Ends } from '../processes/own-plane.ts'

/** Credentials of a store. */
type Keys = Pick<StorageAccess, 'accessKey' | 'secretKey'>

/** A store for one test. */
export type TestStore = Awaited<ReturnType<typeof openTestStore>>

/** Starts a store in a directory of its own. Both end with the test. */
export async function openTestStore(
  t: Ends,
  options: Omit<MinioOptions, 'directory'> = {},
  start: typeof startMinio | typeof startVersitygw = startMinio,
) {
  const directory = await createDirectory(t, 'store')
  const store = await start({ directory, ...options })
  t.teardown(() => store.stop())
  const { endpoint, port, accessKey, secretKey } = store
  const region = 'us-east-1'
  return {
    ...store,
    directory,
    /** For the bucket `tintype`, as the root user or another one. */
    access: (keys: Keys = { accessKey, secretKey }): StorageAccess => ({ endpoint, region, bucket: 'tintype', ...keys }),
    /** A client of another project. */
    connect: (keys: Keys = { accessKey, secretKey }) =>
      new Client({ endPoint: '127.0.0.1', port, useSSL: false, region, pathStyle: true, ...keys }),
  }
}
