import type { Log } from '@tintype/crds/client/log'
import { SealingKey } from '@tintype/crds/crypto/sealed'
import { MountedJson } from './mounted-json.ts'

/** The public key that seals clients' secrets. Only the operator can open them. */
export class SealingKeyFile extends MountedJson<SealingKey> {
  constructor(path: string, log: Log) {
    super({ path, log, schema: SealingKey, what: 'sealing key', notLoadedMessage: 'secrets cannot be sealed yet: retry in a few seconds' })
  }
}
