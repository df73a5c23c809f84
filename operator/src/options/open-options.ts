// rbac: /secrets get

import { type OpeningKeys, SealError, type SealedFor, unseal } from '@tintype/crds/crypto/sealed'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { CaptureOptions } from '@tintype/crds/options/catalogue'
import { findForbidden, type OptionPolicy, toForbiddenMessage } from '@tintype/crds/options/policy'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { SealedOptions } from '@tintype/crds/options/sealed-options'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { accountOf } from '@tintype/crds/records/record'
import { optionsKey } from '@tintype/crds/records/storage-keys'
import { unlessTooLarge } from '@tintype/crds/storage/checked-read'
import { parseJson } from '@tintype/crds/text/parse-json'
import { findReservedName } from '@tintype/crds/text/reserved-names'
import type { SecretStore } from '../secrets/ensure-secret.ts'
import type { Storage } from '../storage/storage.ts'
import { OptionsError } from './options-error.ts'
import { readPrivateSecret } from './private-secret.ts'

// A Screenshot's spec is not trusted: whoever may create one could copy another's sealed text into it, or name another account's
// object. So each text opens only for what it was sealed to, and no key is read that is not made of the Screenshot's own account and name.

export { OptionsError } from './options-error.ts'

/** Where private and large options come from. */
export interface OptionsSources {
  openingKeys: OpeningKeys
  secrets: Pick<SecretStore, 'find'>
  storage: Pick<Storage, 'readText'>
  /** Told of objects that count as absent. */
  report: ReportIgnored
  /** What whoever runs the service allows; no gateway has judged what was made with kubectl. */
  policy: OptionPolicy
}

/** Five parts in base64url; the second, a wrapped key, is empty. */
const COMPACT_JWE = /^[\w-]{1,4096}\.\.[\w-]{1,64}\.[\w-]+\.[\w-]{1,64}$/

/** All options of a capture; absent where there are none. */
export interface OpenedOptions {
  options?: CaptureOptions | undefined
  privateOptions?: PrivateOptions | undefined
}

/** Bytes that an object with sealed options may have: a request body of 4 MiB, encrypted and in base64, with room. */
const MAX_OBJECT_BYTES = 8 * 1024 * 1024

/**
 * Gathers a Screenshot's options from wherever they are kept.
 * @throws OptionsError when they cannot be used, ever; RetryableError when the store or the API server is away
 */
export async function openOptions(shot: Screenshot, sources: OptionsSources): Promise<OpenedOptions> {
  const { options, privateOptionsSecretRef } = shot.spec
  assertReadable(options)
  const fromSecret =
    privateOptionsSecretRef && (await readPrivateSecret(privateOptionsSecretRef.name, shot.metadata.namespace, sources.secrets))
  const large = await openLarge(shot, sources)
  const sealed = await openSealed(shot, sources.openingKeys)
  const opened = {
    options: merge(options, large.options, sealed.options),
    privateOptions: merge<PrivateOptions>(fromSecret, large.privateOptions, sealed.privateOptions),
  }
  assertAllowed(opened, sources.policy)
  return opened
}

/** The API server does not judge the names of a map, nor some values: a runner would refuse the order, and so would the next one. */
function assertReadable(options: CaptureOptions | undefined): void {
  assertNames(options, 'spec.options')
  const { error } = CaptureOptions.optional().safeParse(options)
  if (!error) return
  const places = [...new Set(error.issues.map(({ path }) => ['spec.options', ...path].join('.')))]
  throw new OptionsError(`${places.join(', ')}: not what the options may be; see docs/options.md`)
}

/** Schemas drop reserved names in silence. */
function assertNames(value: unknown, place: string): void {
  const reserved = findReservedName(value)
  if (reserved) throw new OptionsError(`${[place, ...reserved].join('.')} is a reserved name: leave the field out`)
}

function assertAllowed({ options, privateOptions }: OpenedOptions, policy: OptionPolicy): void {
  const names = findForbidden({ ...options, ...privateOptions }, policy)
  if (names.length > 0) throw new OptionsError(toForbiddenMessage(names), 'OPTION_NOT_ALLOWED')
}

/** The later ones win; undefined where nothing is given. */
function merge<T extends object>(...parts: (T | undefined)[]): T | undefined {
  return parts.every((part) => part === undefined) ? undefined : Object.assign({}, ...parts)
}

async function openSealed({ metadata, spec }: Screenshot, keys: OpeningKeys): Promise<SealedOptions> {
  if (spec.sealedOptions === undefined) return {}
  return open(spec.sealedOptions, { purpose: 'options', subject: metadata.name, account: accountOf({ spec }), url: spec.url }, keys)
}

async function openLarge(shot: Screenshot, { storage, openingKeys, report }: OptionsSources): Promise<SealedOptions> {
  const { optionsObject, batchId } = shot.spec
  if (optionsObject === undefined) return {}
  const account = accountOf(shot)
  const subject = [shot.metadata.name, batchId].find((name) => name !== undefined && optionsKey(account, name) === optionsObject)
  if (subject === undefined) throw new OptionsError('spec.optionsObject names an object that is not this Screenshot’s')
  const text = await unlessTooLarge('options', optionsObject, storage.readText(optionsObject, MAX_OBJECT_BYTES), report)
  const isSealed = text !== undefined && COMPACT_JWE.test(text)
  if (text !== undefined && !isSealed) report({ kind: 'options', reason: 'content', key: optionsObject })
  if (!isSealed) throw new OptionsError('the object with the options is gone')
  return open(text, { purpose: 'large-options', subject, account }, openingKeys).catch((error: unknown) => {
    if (error instanceof OptionsError) report({ kind: 'options', reason: 'content', key: optionsObject })
    throw error
  })
}

async function open(text: string, sealedFor: SealedFor, keys: OpeningKeys): Promise<SealedOptions> {
  const opened = await unseal(text, sealedFor, keys).catch((error: unknown) => {
    if (error instanceof SealError) throw new OptionsError(`the sealed options cannot be opened: ${error.message}`)
    throw error
  })
  const given = parseJson(opened)
  assertNames(given, 'the sealed options')
  const { data } = SealedOptions.safeParse(given)
  if (!data) throw new OptionsError('the sealed options are not what this version knows')
  return data
}
