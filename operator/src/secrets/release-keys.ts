import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { KeyRing } from '@tintype/crds/crypto/download-link'
import { newOpeningKey, OpeningKeys, SealingKey, toSealingKey } from '@tintype/crds/crypto/sealed'
import { secretNames } from '@tintype/crds/identifiers/names'
import { z } from 'zod'
import { TerminalError } from '../controller/errors.ts'
import { ensureSecret, releaseLabels, type SecretStore } from './ensure-secret.ts'

/** An Ed25519 private key as JWK (RFC 8037): `x` alone is the public key. */
export const DispatchKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.base64url(),
  d: z.base64url(),
})
export type DispatchKey = z.infer<typeof DispatchKey>

/** The keys that the programs of a release share. */
export interface ReleaseKeys {
  /** Signs and checks download links; the gateway mounts the same Secret. */
  downloadKeys: KeyRing
  /** Signs dispatches; runners get its public half only. */
  dispatchKey: DispatchKey
  /** Opens what the gateway has sealed; the gateway mounts the public half only. */
  openingKeys: OpeningKeys
}

const DOWNLOAD_KEY_BYTES = 32

const newKeyRing = (): KeyRing => ({ current: 'k1', keys: { k1: randomBytes(DOWNLOAD_KEY_BYTES).toString('base64') } })

const newDispatchKey = (): DispatchKey => DispatchKey.parse(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))

const KEY_ID_BYTES = 5

/** A pair to seal and open with. Its id is chance: what was sealed to a pair that is lost must not look as if it were sealed to its successor. */
function newSealingPair(): Record<string, string> {
  const key = newOpeningKey(randomBytes(KEY_ID_BYTES).toString('hex'))
  return { 'private.json': JSON.stringify([key]), 'public.json': JSON.stringify(toSealingKey(key)) }
}

/**
 * Returns the release's keys, making the Secrets that do not exist yet.
 * @throws TerminalError when a Secret of that name holds something else
 */
export async function ensureReleaseKeys(secrets: SecretStore, release: string): Promise<ReleaseKeys> {
  const names = secretNames(release)
  const labels = releaseLabels(release)
  const [download, dispatch, sealing] = await Promise.all([
    ensureSecret(secrets, { name: names.downloadKeys, labels, build: () => ({ 'keys.json': JSON.stringify(newKeyRing()) }) }),
    ensureSecret(secrets, { name: names.dispatchKey, labels, build: () => ({ 'private.jwk': JSON.stringify(newDispatchKey()) }) }),
    ensureSecret(secrets, { name: names.sealingKey, labels, build: newSealingPair }),
  ])
  const openingKeys = parseKey(OpeningKeys, names.sealingKey, 'private.json', sealing)
  requirePair(parseKey(SealingKey, names.sealingKey, 'public.json', sealing), openingKeys, names.sealingKey)
  return {
    downloadKeys: parseKey(KeyRing, names.downloadKeys, 'keys.json', download),
    dispatchKey: parseKey(DispatchKey, names.dispatchKey, 'private.jwk', dispatch),
    openingKeys,
  }
}

/** After a rotation by hand: what the gateway seals must be openable. */
function requirePair({ kid, x }: SealingKey, openingKeys: OpeningKeys, secret: string): void {
  if (openingKeys.some((key) => key.kid === kid && key.x === x)) return
  throw new TerminalError('InvalidSecret', `the Secret ${secret} has a public.json whose private half is not in private.json`)
}

function parseKey<T>(schema: z.ZodType<T>, secret: string, key: string, data: Record<string, string>): T {
  try {
    return schema.parse(JSON.parse(data[key] ?? ''))
  } catch {
    // The cause would carry the text of the key into the log.
    throw new TerminalError('InvalidSecret', `the Secret ${secret} has no usable ${key}: delete it and a new one is made`)
  }
}
