import type { Log } from '@tintype/crds/client/log'
import { KeyRing } from '@tintype/crds/crypto/download-link'
import { MountedJson } from './mounted-json.ts'

/** The keys that sign download links. */
export class KeyRingFile extends MountedJson<KeyRing> {
  constructor(path: string, log: Log) {
    super({
      path,
      log,
      schema: KeyRing,
      what: 'download keys',
      notLoadedMessage: 'download links cannot be signed yet: retry in a few seconds',
    })
  }
}
