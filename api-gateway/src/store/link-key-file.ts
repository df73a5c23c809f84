import type { Log } from '@tintype/crds/client/log'
import { LinkKey } from '@tintype/crds/crypto/link-secret'
import { MountedJson } from './mounted-json.ts'

/** The release key from which the secrets of signed links are derived. After an upgrade from a version without links, it appears within two minutes. */
export class LinkKeyFile extends MountedJson<LinkKey> {
  constructor(path: string, log: Log) {
    super({ path, log, schema: LinkKey, what: 'link key', notLoadedMessage: 'link secrets cannot be derived yet: retry in a minute' })
  }
}
