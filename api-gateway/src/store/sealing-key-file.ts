import type { Log } from '@tintype/crds/client/log'
import { SealingKey } from '@tintype/crds/crypto/sealed'
import { MountedJson } from './mounted-json.ts'

/** The public key that clients' secrets are sealed to; only the operator can open what it seals. */
export class SealingKeyFile extends MountedJson<SealingKey> {
  constructor(path: string, log: Log) {
    super({ path, log, schema: SealingKey, what: 'sealing key', absence: 'secrets cannot be sealed yet' })
  }
}
