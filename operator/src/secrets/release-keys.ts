import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { newLinkKey } from '@tintype/crds/crypto/api-keys'
import { newOpeningKey, OpeningKeys, SealingKey, toSealingKey } from '@tintype/crds/crypto/sealed'
import { KeyRing } from '@tintype/crds/crypto/signatures'
import { secretNames } from '@tintype/crds/identifiers/names'
import { z } from 'zod'
import { TerminalError } from '../controller-runtime/controller.ts'
import { ensureSecret, releaseLabels, type SecretStore } from './ensure-secret.ts'

/** An Ed25519 private key as JWK (RFC 8037). `x` is the public key. */
export const DispatchKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.base64url(),
  d: z.base64url(),
})
export type DispatchKey = z.infer<typeof DispatchKey>

/** Keys that the programs of a release share. */
export interface ReleaseKeys {
  /** Signs and verifies download links; the gateway mounts the same Secret. */
  downloadKeys: KeyRing
  /** Signs dispatches; runners get only its public half. */
  dispatchKey: DispatchKey
  /** Decrypts what the gateway has sealed; the gateway mounts only the public half. */
  openingKeys: OpeningKeys
}

const DOWNLOAD_KEY_BYTES = 32

const newKeyRing = (): KeyRing => ({ current: 'k1', keys: { k1: randomBytes(DOWNLOAD_KEY_BYTES).toString('base64') } })

const newDispatchKey = (): DispatchKey => DispatchKey.parse(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))

const KEY_ID_BYTES = 5

/** Creates a sealing key pair. Its id is random, so that data sealed to a lost pair does not seem to be sealed to its successor. */
function newSealingPair(): Record<string, string> {
  const key = newOpeningKey(randomBytes(KEY_ID_BYTES).toString('hex'))
  return { 'private.json': JSON.stringify([key]), 'public.json': JSON.stringify(toSealingKey(key)) }
}

/**
 * Returns the keys of the release and creates the Secrets that do not exist.
 * @throws TerminalError when an existing Secret has no valid key
 */
export async function ensureReleaseKeys(secrets: SecretStore, release: string): Promise<ReleaseKeys> {
  const names = secretNames(release)
  const labels = releaseLabels(release)
  // Only gateways use the link key, and their pods also start without it. It is created before the other Secrets, for which the pods wait. So a new
  // installation has it at the first start of a gateway.
  await ensureSecret(secrets, { name: names.linkKey, labels, build: () => ({ 'key.json': JSON.stringify(newLinkKey()) }) })
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

/** Checks a manual rotation: the operator must be able to open what the gateway seals. */
function requirePair({ kid, x }: SealingKey, openingKeys: OpeningKeys, secret: string): void {
  if (openingKeys.some((key) => key.kid === kid && key.x === x)) return
  throw new TerminalError('InvalidSecret', `the Secret ${secret} has a public.json whose private half is not in private.json`)
}

function parseKey<T>(schema: z.ZodType<T>, secret: string, key: string, data: Record<string, string>): T {
  try {
    return schema.parse(JSON.parse(data[key] ?? ''))
  } catch {
    // Omit the cause, which would write the key to the log.
    throw new TerminalError(
      'InvalidSecret',
      `the Secret ${secret} has no valid ${key}. Delete the Secret, and the operator creates a new one`,
    )
  }
}
