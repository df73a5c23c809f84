import type { CaptureOptions } from '@tintype/crds/capture-options/catalogue'
import type { PrivateOptions } from '@tintype/crds/capture-options/private'
import { bytesOf, MAX_INLINE_BYTES, type SealedOptions, splitLarge } from '@tintype/crds/capture-options/sealed-options'
import type { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { type SealingKey, seal } from '@tintype/crds/sealed'
import { optionsKey } from '@tintype/crds/storage-keys'
import type { ObjectStore } from '../store/ports.ts'

// Where the options of a request are kept (design: "Large or private options never sit in etcd in the clear"). Small ordinary ones stay in the
// object, for kubectl to show. Private ones are sealed to the object's own name and address. What is too long for an object becomes one sealed
// object in the bucket, which a batch shares. What was sealed nobody reads back here: the gateway has the public key only.

/** The fields of a spec that hold options. */
export type StoredOptions = Pick<ScreenshotSpec, 'options' | 'sealedOptions' | 'optionsObject' | 'hiddenOptions'>

/** What the options are stored with. */
export interface OptionsDeps {
  /** @throws ApiError SERVICE_UNAVAILABLE while there is none */
  sealingKey: () => SealingKey
  objects: Pick<ObjectStore, 'write'>
}

/** One Screenshot to come. */
export interface OptionsOwner {
  /** Name of the object. */
  name: string
  url: string
  /** Its own, besides what it shares: credentials of its address. */
  privateOptions?: PrivateOptions | undefined
}

interface SharedOptions {
  options?: CaptureOptions | undefined
  privateOptions?: PrivateOptions | undefined
  account: string
  /** What the object in the bucket is named after: the Screenshot's name, or the batch's id. */
  subject: string
}

/** Stores the options of one Screenshot. @throws ApiError SERVICE_UNAVAILABLE */
export async function storeOptions({ url, ...shared }: SharedOptions & { url: string }, deps: OptionsDeps): Promise<StoredOptions> {
  const [stored] = await storeBatchOptions({ ...shared, owners: [{ name: shared.subject, url }] }, deps)
  return stored ?? {}
}

/**
 * Stores the options of the Screenshots of a batch, in their order. May be repeated: what it writes the second time stands for the first.
 * @throws ApiError SERVICE_UNAVAILABLE
 */
export async function storeBatchOptions(
  request: SharedOptions & { owners: readonly OptionsOwner[] },
  deps: OptionsDeps,
): Promise<StoredOptions[]> {
  const { owners, account } = request
  const { spec, inBucket, toSeal } = divide(request)
  const stored = inBucket === undefined ? spec : { ...spec, optionsObject: await putObject(inBucket, request, deps) }
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

/** What is kept where. */
function divide({ options = {}, privateOptions = {} }: Pick<SharedOptions, 'options' | 'privateOptions'>): Division {
  if (bytesOf({ options, privateOptions }) <= MAX_INLINE_BYTES)
    return { spec: toSpec(options, []), inBucket: undefined, toSeal: privateOptions }
  const { small, large } = splitLarge(options)
  const fits = bytesOf(privateOptions) <= MAX_INLINE_BYTES
  const inBucket = { ...(isEmpty(large) ? {} : { options: large }), ...(fits ? {} : { privateOptions }) }
  if (isEmpty(inBucket)) return { spec: toSpec(options, []), inBucket: undefined, toSeal: privateOptions }
  const hidden = [...Object.keys(large), ...(fits ? [] : Object.keys(privateOptions))]
  return { spec: toSpec(small, hidden), inBucket, toSeal: fits ? privateOptions : {} }
}

const toSpec = (options: CaptureOptions, hiddenOptions: string[]): StoredOptions => ({
  ...(isEmpty(options) ? {} : { options }),
  ...(hiddenOptions.length === 0 ? {} : { hiddenOptions }),
})

async function putObject(
  content: SealedOptions,
  { account, subject }: SharedOptions,
  { sealingKey, objects }: OptionsDeps,
): Promise<string> {
  const key = optionsKey(account, subject)
  await objects.write(key, await seal(JSON.stringify(content), { purpose: 'large-options', subject, account }, sealingKey()))
  return key
}
