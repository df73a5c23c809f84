// The identities of the bundled store, as the setup Job creates them. Tests use them to detect missing permissions, because they grant
// exactly those of the chart.

import { randomBytes } from 'node:crypto'
import { IDENTITIES } from '../../crds/src/records/folders.ts'
import type { Identities } from '../../operator/src/stores/driver.ts'
import { setIdentities } from '../../operator/src/stores/minio/driver.ts'
import type { StoreServer } from '../cluster/programs/store-server.ts'
import { eventually } from '../support/eventually.ts'

const word = (): string => randomBytes(12).toString('base64url')

/** Sets users of a store. MinIO reports that it is ready before it can read its users. The setup Job retries as well. */
export const setUsers = (set: () => Promise<void>): Promise<true> =>
  eventually('the store accepts its users', () => set().then(() => true as const))

/** Creates an identity for each role. */
export async function makeIdentities({ endpoint, accessKey, secretKey }: StoreServer, bucket = 'tintype'): Promise<Identities> {
  const identities = Object.fromEntries(
    IDENTITIES.map((role) => [role, { accessKey: `${role}-${word()}`, secretKey: word() }]),
  ) as Identities
  const root = { endpoint, region: 'us-east-1', accessKey, secretKey }
  await setUsers(() => setIdentities(identities, { root, bucket, now: new Date() }))
  return identities
}

/** The operator's environment. */
export const operatorStorage = ({ endpoint }: StoreServer, { operator, uploads }: Identities): Record<string, string> => ({
  TINTYPE_STORAGE_ENDPOINT: endpoint,
  TINTYPE_STORAGE_ACCESS_KEY: operator.accessKey,
  TINTYPE_STORAGE_SECRET_KEY: operator.secretKey,
  TINTYPE_STORAGE_UPLOADS_ACCESS_KEY: uploads.accessKey,
  TINTYPE_STORAGE_UPLOADS_SECRET_KEY: uploads.secretKey,
})

/** The gateway's environment. */
export const gatewayStorage = ({ endpoint }: StoreServer, { gateway, links }: Identities): Record<string, string> => ({
  TINTYPE_STORAGE_ENDPOINT: endpoint,
  TINTYPE_STORAGE_ACCESS_KEY: gateway.accessKey,
  TINTYPE_STORAGE_SECRET_KEY: gateway.secretKey,
  TINTYPE_STORAGE_LINKS_ACCESS_KEY: links.accessKey,
  TINTYPE_STORAGE_LINKS_SECRET_KEY: links.secretKey,
})
