import type { StoreDriver } from '../driver.ts'
import { expireFiles } from './expire-files.ts'
import { removeUser, setIdentities } from './identities.ts'

/** versitygw: the policy of the bucket names the users. There are no lifecycle rules, so old files are deleted from its volume. */
export const driver: StoreDriver = { setIdentities, removeUser, expireFiles }
