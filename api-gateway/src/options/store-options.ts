import { type SealingKey, seal } from '@tintype/crds/crypto/sealed'
import type { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { areInline, MAX_OPTIONS_BYTES, type PrivateOptions, type SealedOptions, splitLarge } from '@tintype/crds/options/private'
import { optionsKey } from '@tintype/crds/records/storage-keys'
import { invalid } from '../common/errors.ts'
import type { ObjectStore } from '../store/ports.ts'

// Where the options of a request are stored. Large or private options must never be in etcd in plain text. Small ordinary options stay in the
// Screenshot, where kubectl shows them. Private options are sealed to the Screenshot's name and URL. Options that are too large become one sealed
// object in the bucket. A batch shares it, so it is not sealed to a URL then. The gateway only has the public key and cannot read sealed options.

/** Option fields of a Screenshot's spec. */
export type StoredOptions = Pick<ScreenshotSpec, 'options' | 'sealedOptions' | 'optionsObject' | 'hiddenOptions'>

export interface OptionsDeps {
  /** @throws ApiError SERVICE_UNAVAILABLE while no key is loaded */
  sealingKey: () => SealingKey
  objects: Pick<ObjectStore, 'write'>
}

/** A Screenshot that will be created. */
export interface OptionsOwner {
  /** Name of the object. */
  name: string
  url: string
  /** Options of this Screenshot alone: credentials from its URL. */
  privateOptions?: PrivateOptions | undefined
}

interface SharedOptions {
  options?: CaptureOptions | undefined
  privateOptions?: PrivateOptions | undefined
  account: string
  /** Name of the object in the bucket: the name of the Screenshot or schedule, or the batch id. */
  subject: string
  /** Key of the object in the bucket; default: {@link optionsKey}. */
  keyOf?: (account: string, subject: string) => string
}

/** Stores the options of one Screenshot. @throws ApiError SERVICE_UNAVAILABLE */
export async function storeOptions({ url, ...shared }: SharedOptions & { url: string }, deps: OptionsDeps): Promise<StoredOptions> {
  const [stored] = await storeBatchOptions({ ...shared, owners: [{ name: shared.subject, url }] }, deps)
  return stored ?? {}
}

/**
 * Stores the options of a batch's Screenshots, in order. Idempotent.
 * @throws ApiError SERVICE_UNAVAILABLE
 */
export async function storeBatchOptions(
  request: SharedOptions & { owners: readonly OptionsOwner[] },
  deps: OptionsDeps,
): Promise<StoredOptions[]> {
  const { owners, account } = request
  const { spec, inBucket, toSeal } = divide(request)
  // Of a schedule, the URL can change.
  const url = inBucket?.privateOptions && owners.length === 1 ? owners[0]?.url : undefined
  const stored = inBucket === undefined ? spec : { ...spec, optionsObject: await putObject(inBucket, { ...request, url }, deps) }
  return Promise.all(
    owners.map(async ({ name, url, privateOptions }) => {
      const own = { ...toSeal, ...privateOptions }
      if (isEmpty(own)) return stored
      const content: SealedOptions = { privateOptions: own }
      const sealedOptions = await seal(JSON.stringify(content), { purpose: 'options', subject: name, account, url }, deps.sealingKey())
      return { ...stored, sealedOptions, hiddenOptions: union(stored.hiddenOptions, Object.keys(own)) }
    }),
  )
}

const isEmpty = (object: object): boolean => Object.keys(object).length === 0
const union = (names: readonly string[] = [], more: readonly string[]): string[] => [...new Set([...names, ...more])]

interface Division {
  spec: StoredOptions
  inBucket: SealedOptions | undefined
  toSeal: PrivateOptions
}

/** Decides which options are stored where. */
function divide({ options = {}, privateOptions = {} }: Pick<SharedOptions, 'options' | 'privateOptions'>): Division {
  if (areInline({ ...options, ...privateOptions })) return { spec: toSpec(options, []), inBucket: undefined, toSeal: privateOptions }
  const { small, large } = splitLarge(options)
  const fits = areInline(privateOptions)
  const inBucket = { ...(isEmpty(large) ? {} : { options: large }), ...(fits ? {} : { privateOptions }) }
  if (isEmpty(inBucket)) return { spec: toSpec(options, []), inBucket: undefined, toSeal: privateOptions }
  const hidden = [...Object.keys(large), ...(fits ? [] : Object.keys(privateOptions))]
  return { spec: toSpec(small, hidden), inBucket, toSeal: fits ? privateOptions : {} }
}

const toSpec = (options: CaptureOptions, hiddenOptions: string[]): StoredOptions => ({
  ...(isEmpty(options) ? {} : { options }),
  ...(hiddenOptions.length === 0 ? {} : { hiddenOptions }),
})

/** Where an object in the bucket is. */
type Place = Pick<SharedOptions, 'account' | 'subject' | 'keyOf'> & { url?: string | undefined }

/** Writes an object without options, in place of an earlier one. Returns its key. */
export const emptyOptions = (place: Place, deps: OptionsDeps): Promise<string> => putObject({}, place, deps)

async function putObject(
  content: SealedOptions,
  { account, subject, url, keyOf = optionsKey }: Place,
  { sealingKey, objects }: OptionsDeps,
): Promise<string> {
  const key = keyOf(account, subject)
  const text = JSON.stringify(content)
  if (Buffer.byteLength(text) > MAX_OPTIONS_BYTES) throw tooLarge()
  await objects.write(key, await seal(text, { purpose: 'large-options', subject, account, url }, sealingKey()))
  return key
}

const tooLarge = () => {
  const message = 'the options are larger than 8 MiB as JSON in UTF-8: remove the control characters from html'
  return invalid([{ path: 'options', code: 'too_big', message }])
}
